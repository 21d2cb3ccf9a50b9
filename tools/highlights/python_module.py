"""Reads one version of a Python file into what it offers, requires and does, by qualified name.

Works on the syntax tree: nothing of the file is executed. Expressions are rendered only where the
other version differs, because that is what takes time.
"""

from __future__ import annotations

import ast
import threading
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from tools.highlights.dependencies import requirement
from tools.highlights.trees import Tree

_LIMIT: Final = 400_000  # characters; the parser reads about one to two million a second
_TEXT: Final = 200
_DEEPEST: Final = 6
_LEAVES: Final = frozenset({ast.Name, ast.Constant, ast.Load, ast.Store, ast.Del})
_PARSING: Final = threading.Lock()
"""One thread at a time: the filters of warnings belong to all of them, and so does the depth that the
parser of Python 3.11 counts.
"""

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class PythonModule:
    """What one version of a file offers and does, by qualified name.

    ``functions`` and ``assigned`` hold all syntax; the other fields only what differs from the
    other version, because rendering an expression is what takes time.
    """

    lines: list[str]
    functions: dict[str, list[_Function]] = field(default_factory=dict)
    assigned: dict[str, ast.expr] = field(default_factory=dict)
    classes: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    constants: dict[str, Tree] = field(default_factory=dict)
    parameters: dict[str, dict[str, str]] = field(default_factory=dict)
    decorators: dict[str, tuple[str, ...]] = field(default_factory=dict)
    raises: dict[tuple[str, str], list[str]] = field(default_factory=lambda: defaultdict(list))
    arguments: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    passed: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    own_calls: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def signature(self, name: str) -> str:
        """Name a function's parameters: ``(self, url, timeout)``."""
        if name not in self.functions:
            return "class"
        arguments = _all_arguments(self.functions[name][-1].args)
        return f"({', '.join(argument.arg for argument in arguments)})"

    def segment(self, *nodes: ast.expr | ast.stmt) -> str:
        """Return the lines on which the nodes stand."""
        spans = [self.lines[node.lineno - 1 : node.end_lineno] for node in nodes]
        return "\n".join(line for span in spans for line in span)


def read_modules(before: str, after: str) -> tuple[PythonModule, PythonModule] | None:
    """Read both versions, in detail where they differ; ``None`` if one cannot be parsed."""
    if max(len(before), len(after)) > _LIMIT:
        return None
    old, new = PythonModule(before.split("\n")), PythonModule(after.split("\n"))
    try:
        trees = _parsed(before), _parsed(after)
        for module, tree in zip((old, new), trees, strict=True):
            _Reader(module).body(tree.body, "")
        _detail(old, new)
        _detail(new, old)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return old, new


def _parsed(text: str) -> ast.Module:
    with _PARSING, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the style of other people's code
        return ast.parse(text)


def requirements(text: str) -> dict[str, str]:
    """Find the requirements with a version among the strings of a setup.py that can be parsed."""
    strings = (node.value for node in ast.walk(_parsed(text)) if isinstance(node, ast.Constant))
    pairs = (requirement(s) for s in strings if isinstance(s, str) and len(s) < _TEXT)
    return {name: asked for name, asked in filter(None, pairs) if asked != "any"}


def _detail(module: PythonModule, other: PythonModule) -> None:
    """Render what is not literally the same in the other version."""
    reader = _Reader(module)
    for name, nodes in module.functions.items():
        if name in other.functions and (
            module.segment(*nodes) == other.segment(*other.functions[name])
            and len(nodes[-1].decorator_list) == len(other.functions[name][-1].decorator_list) == 0
        ):
            continue
        for node in nodes:
            reader.function(node, name)
    for name, value in module.assigned.items():
        twin = other.assigned.get(name)
        if twin is None or module.segment(value) != other.segment(twin):
            reader.constant(name, value)


@dataclass(frozen=True)
class _Reader:
    module: PythonModule

    def body(self, statements: Sequence[ast.stmt], prefix: str) -> None:
        """Read the statements of a module or a class, those under ``if`` and ``try`` as well."""
        for statement in statements:
            match statement:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    if not _is_overload(statement):
                        self.module.functions.setdefault(prefix + statement.name, []).append(
                            statement
                        )
                case ast.ClassDef():
                    self.module.classes.add(prefix + statement.name)
                    self.body(statement.body, f"{prefix}{statement.name}.")
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self.module.assigned[prefix + name] = value
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    self.module.assigned[prefix + name] = value
                case ast.Import(names=names) | ast.ImportFrom(names=names):
                    found = (prefix + (alias.asname or alias.name) for alias in names)
                    self.module.names.update(found)
                case _:
                    self._other(statement, prefix)

    def _other(self, statement: ast.stmt, prefix: str) -> None:
        match statement:
            case ast.If() | ast.For() | ast.While():
                self.body((*statement.body, *statement.orelse), prefix)
            case ast.Try():
                handled = [inner for handler in statement.handlers for inner in handler.body]
                self.body((*statement.body, *handled, *statement.orelse), prefix)
            case ast.With():
                self.body(statement.body, prefix)
            case _:
                self._inside(statement, prefix.rstrip("."))

    def function(self, node: _Function, name: str) -> None:
        """Note a function's parameters and decorators, and what happens inside."""
        self.module.parameters[name] = _parameters_of(node.args)
        self.module.decorators[name] = tuple(_text(one) for one in node.decorator_list)
        for statement in node.body:
            self._inside(statement, name)

    def constant(self, name: str, value: ast.expr) -> None:
        """Note a value that is assigned in a module or a class."""
        self._inside(value, name)
        last = name.rpartition(".")[2]
        if isinstance(value, ast.Subscript | ast.Lambda) or last == "__slots__":
            return  # a type alias, or nothing that a caller sees
        if isinstance(value, ast.Name | ast.Attribute) and not last.isupper():
            return
        self.module.constants[name] = _literal(value, 0)

    def _inside(self, top: ast.AST, function: str) -> None:
        """Note what a statement raises and which literals it passes on."""
        for node in _calls_and_raises(top):
            if isinstance(node, ast.Raise) and node.exc is not None:
                call = node.exc
                kind = call.func if isinstance(call, ast.Call) else call
                message = _text(call.args[0]) if isinstance(call, ast.Call) and call.args else ""
                self.module.raises[function, _text(kind)].append(message)
            elif isinstance(node, ast.Call):
                self._call(node, function)

    def _call(self, node: ast.Call, function: str) -> None:
        callee = _text(node.func)
        if callee.startswith(("self.", "cls.", "super().")):
            self.module.own_calls[function].add(callee)
        where = f"{function}: {callee}" if function else callee
        if node.keywords:
            names = self.module.passed[where]
            names.update(keyword.arg for keyword in node.keywords if keyword.arg)
        for keyword in node.keywords:
            if keyword.arg and _is_literal(keyword.value):
                key = f"{where}({keyword.arg})"
                self.module.arguments[key].append(_text(keyword.value))
        reads = callee.rpartition(".")[2] in {"get", "getenv", "pop", "setdefault", "getattr"}
        if reads and len(node.args) == 2 and all(_is_literal(argument) for argument in node.args):
            key = f"{callee}({_text(node.args[0])})"
            self.module.arguments[key].append(_text(node.args[1]))


def _calls_and_raises(top: ast.AST) -> Iterator[ast.AST]:
    """Those that ``ast.walk`` finds, in its order, without a visit to what holds neither."""
    waiting = [top]
    for node in waiting:  # it grows meanwhile
        if isinstance(node, ast.Call | ast.Raise):
            yield node
        for name in node._fields:
            value = getattr(node, name, None)
            items = value if isinstance(value, list) else (value,)
            waiting += [
                one for one in items if isinstance(one, ast.AST) and type(one) not in _LEAVES
            ]


def _is_overload(node: _Function) -> bool:
    return any(_text(one).rpartition(".")[2] == "overload" for one in node.decorator_list)


def _all_arguments(arguments: ast.arguments) -> list[ast.arg]:
    rest = [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *rest]


def _parameters_of(arguments: ast.arguments) -> dict[str, str]:
    """Each parameter as ``int = 5``; ``required`` where it has neither type nor default."""
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    defaults += arguments.defaults
    pairs = [*zip(positional, defaults, strict=True)]
    pairs += zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    found = {}
    for argument, default in pairs:
        kind = _text(argument.annotation) if argument.annotation else ""
        value = f"= {_text(default)}" if default is not None else ""
        found[argument.arg] = f"{kind} {value}".strip() or "required"
    if arguments.vararg:
        found[f"*{arguments.vararg.arg}"] = "required"
    if arguments.kwarg:
        found[f"**{arguments.kwarg.arg}"] = "required"
    return found


def _literal(node: ast.expr, depth: int) -> Tree:
    pairs = _pairs(node)
    if pairs is not None and depth < _DEEPEST:
        return {_key(key): _literal(value, depth + 1) for key, value in pairs}
    if isinstance(node, ast.Dict) and depth < _DEEPEST:
        return {
            _key(key): _literal(value, depth + 1)
            for key, value in zip(node.keys, node.values, strict=True)
        }
    if isinstance(node, ast.List | ast.Tuple | ast.Set) and len(node.elts) > 6:
        return tuple(_text(item) for item in node.elts)
    return _text(node)


def _pairs(node: ast.expr) -> list[tuple[ast.expr, ast.expr]] | None:
    """Read ``OrderedDict([("a", 1)])`` as the mapping that it is."""
    match node:
        case ast.Call(func=function, args=[ast.List(elts=items)], keywords=[]) if _text(
            function
        ).endswith(("dict", "Dict")):
            pairs = [item.elts for item in items if isinstance(item, ast.Tuple)]
            if all(len(pair) == 2 for pair in pairs) and len(pairs) == len(items):
                return [(pair[0], pair[1]) for pair in pairs]
    return None


def _key(node: ast.expr | None) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    return "**" if node is None else _text(node)


def _is_literal(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.operand, ast.Constant)
    if isinstance(node, ast.BinOp):
        return _is_literal(node.left) and _is_literal(node.right)
    return isinstance(node, ast.Constant)


def _text(node: ast.expr) -> str:
    """Render an expression on one line; of a long one, the beginning is enough to compare."""
    if isinstance(node, ast.Name):
        return node.id
    text = ast.unparse(node)
    return text if len(text) <= 4 * _TEXT else text[: 4 * _TEXT] + f"… ({len(text)} characters)"
