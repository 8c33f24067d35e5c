"""Files to judge: which there are (`discovery.py`), and how their bytes become text (`input_file.py`)."""
