"""Options: what a program is told on its command line (argparse, click, absl): the default, or something else."""

from __future__ import annotations

import ast
from collections.abc import Callable

from gradlint.flow.arguments import Arguments
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import Function, Items, LibraryObject, Partial
from gradlint.flow.values import NONE, Kind, Value, is_literal

PARSER = "argparse.ArgumentParser"
_OPTIONS = "<options>"


def parser(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    """`argparse.ArgumentParser(...)`: what was added is kept in a dictionary, not exact when some name is not known."""
    options = it.container("dict", Items((), ()))
    made = LibraryObject(it.new_id(), PARSER, keywords=((_OPTIONS, options),))
    return it.fresh(Kind.LIBRARY, node, ref=made)


def call_parser(it: Interpreter, receiver: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """A method of a parser."""
    options = receiver.ref.keyword(_OPTIONS)
    match name:
        case "add_argument":
            option = _name_of(arguments)
            if option:
                _add(it, options, option, _value(it, option, _default(it, arguments), node))
            else:
                items = it.items(options)
                it.set_items(options, Items(items.elements, items.keys, exact=False))
        case "set_defaults":
            for key, value in arguments.keywords.items():
                _add(it, options, key, _value(it, key, value, node))
        case "add_argument_group" | "add_mutually_exclusive_group":
            return receiver
        case "parse_args" | "parse_known_args":
            found = _namespace(it, options, node)
            return found if name == "parse_args" else it.tuple_of((found, it.plain(node)), node)
    return it.plain(node)


def _add(it: Interpreter, options: Value, name: str, value: Value) -> None:
    items = it.items(options)
    known = dict(zip(items.keys or (), items.elements, strict=False)) | {name: value}
    it.set_items(options, Items(tuple(known.values()), tuple(known), items.exact))


def _namespace(it: Interpreter, options: Value, node: ast.AST) -> Value:
    items = it.items(options)
    if not items.exact or items.keys is None:
        return it.parameter("the arguments of the command line", node)
    made = LibraryObject(it.new_id(), "types.SimpleNamespace")
    for key, value in zip(items.keys, items.elements, strict=True):
        it.write_cell(made, key, value)
    return it.fresh(Kind.LIBRARY, node, ref=made)


def is_flags(symbol: str) -> bool:
    """Whether a symbol is the object that absl puts the flags of a program into."""
    return symbol in ("absl.flags.FLAGS", "tf.flags.FLAGS", "tf.app.flags.FLAGS")


def defines_flag(symbol: str) -> bool:
    """Whether a symbol is a function of absl that defines a flag: `flags.DEFINE_string` and its likes."""
    return ".flags.DEFINE_" in symbol and symbol.startswith(("absl.", "tf."))


def define_flag(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    """`flags.DEFINE_string("loss", "bce", ...)`: flags belong to the program; what is returned has them as `value`."""
    name, default = arguments.get(0, "name"), arguments.get(1, "default")
    if name is None or name.kind is not Kind.LITERAL or not isinstance(name.ref, str):
        return it.plain(node)
    value = it.flags[name.ref] = _value(it, name.ref, default if default is not None else NONE, node)
    holder = LibraryObject(it.new_id(), "types.SimpleNamespace")
    it.write_cell(holder, "value", value)
    return it.fresh(Kind.LIBRARY, node, ref=holder)


def run_main(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    """`app.run(main)` of absl: `main` is called with the words of the command line that are no flags."""
    main = arguments.get(0, "main")
    if main is None or not isinstance(main.ref, Function):
        return it.plain(node)
    accepts = main.ref.node.args.args or main.ref.node.args.vararg
    return it.call(main, Arguments((it.plain(node),) if accepts else ()), node)


def run_by_signature(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    """`fire.Fire(main)`, `typer.run(main)`: each parameter of `main` is its default or something else."""
    main = arguments.get(0, "component") or arguments.get(0, "function")
    if main is None or not isinstance(main.ref, Function):
        return it.opaque_call(node, arguments.every(), "a command line that runs what it is given", getter=True)
    function: Function = main.ref
    spec = function.node.args
    names = [each.arg for each in (*spec.posonlyargs, *spec.args)]
    defaults = dict(zip(names[len(names) - len(function.defaults) :], function.defaults, strict=False))
    defaults |= {
        each.arg: default
        for each, default in zip(spec.kwonlyargs, function.keyword_defaults, strict=False)
        if default is not None
    }
    every = [*names, *(each.arg for each in spec.kwonlyargs)]
    options = {
        name: _value(it, name, defaults[name], node) if name in defaults else it.parameter(name, node) for name in every
    }
    return it.call(main, Arguments((), options), node)


def kept_arguments(symbol: str) -> Callable[[Interpreter, Arguments, ast.AST], Value]:
    """A decorator of click: what it is given is looked at when it decorates a function."""

    def call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
        itself = it.fresh(Kind.SYMBOL, node, ref=symbol)
        keywords = tuple(arguments.keywords.items())
        return it.fresh(Kind.FUNCTION, node, ref=Partial(it.new_id(), itself, arguments.positional, keywords))

    return call


def note_option(it: Interpreter, arguments: Arguments, function: Value, node: ast.AST) -> None:
    """`@click.option("--loss", default="bce")`: what the parameter is when nobody says anything else."""
    option = _name_of(arguments)
    if option and isinstance(function.ref, Function):
        function.ref.options[option] = _value(it, option, _default(it, arguments), node)


def _name_of(arguments: Arguments) -> str:
    """The attribute or parameter of an option: `dest`, else the first long name, else the first one."""
    told = arguments.keywords.get("dest")
    if told is not None and told.kind is Kind.LITERAL and isinstance(told.ref, str):
        return told.ref
    names = [each.ref for each in arguments.positional if each.kind is Kind.LITERAL and isinstance(each.ref, str)]
    plain = [name for name in names if not name.startswith("-")]
    long = [name for name in names if name.startswith("--")]
    chosen = (plain or long or names or [""])[0]
    return chosen.split("/")[0].lstrip("-").replace("-", "_")


def _default(it: Interpreter, arguments: Arguments) -> Value:
    default, action = arguments.keywords.get("default"), arguments.keywords.get("action")
    if default is None and (is_literal(action, "store_true") or "is_flag" in arguments.keywords):
        return it.fresh(Kind.LITERAL, None, ref=False)
    return default if default is not None else NONE


def _value(it: Interpreter, name: str, default: Value, node: ast.AST) -> Value:
    """The default, or what somebody says instead: a number, where the default is one."""
    is_number = default.kind is Kind.LITERAL and type(default.ref) in (int, float)
    return it.join([default, it.plain(node) if is_number else it.parameter(name, node)])
