"""The command line: ``oncall-bot ask | serve | demo | runs | show | doctor`` and the others.

Owns arguments, exit codes and the words for what goes wrong: 0 answered or done, 1 a failure
outcome, 2 bad use or configuration. Imports inside the commands, so that each loads what it needs.
"""

from __future__ import annotations

import asyncio
import io
import os
import sys
from collections.abc import Coroutine
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any

import typer

from bot.cli_input import BAD_USE, folder, messages, moment, quoted, refuse, tell
from bot.cli_words import Commands

app = typer.Typer(
    name="oncall-bot",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Workspace = Annotated[
    Path,
    typer.Option("--workspace", "-w", metavar="DIR", help="The folder that holds oncall.toml."),
]
Now = Annotated[
    str,
    typer.Option(
        metavar="TIME", help="As if it were this time: 2026-11-29T02:14Z. UTC unless it says else."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]

LEFT = 130
"""The exit code of a program that Ctrl-C ended."""


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - typer hands flags over like this
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415

        typer.echo(f"oncall-bot {version('oncall-bot')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[  # noqa: FBT002
        bool,
        typer.Option(
            "--version", is_eager=True, help="Print the version.", callback=_print_version
        ),
    ] = False,
) -> None:
    """Answers on-call questions about incidents and deploys, with evidence."""
    del version


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="What you want to know, in your own words.")] = "",
    workspace: Workspace = Path(),
    now: Now = "",
    thread: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Earlier messages, one a line, oldest first."),
    ] = None,
    as_json: AsJson = False,  # noqa: FBT002 - typer reads flags like this
    debug: Annotated[bool, typer.Option("--debug", help="Show each turn on stderr.")] = False,  # noqa: FBT002
    server: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="Ask a bot that is running: the ask link that its `serve` prints.",
        ),
    ] = "",
) -> None:
    """Ask one question and print the answer with its evidence."""
    from bot.asking import Asked, ask_server  # noqa: PLC0415
    from bot.asking import ask as run_ask  # noqa: PLC0415
    from bot.web.errors import ServerError  # noqa: PLC0415

    if not question.strip():
        refuse('say what to ask, for example: oncall-bot ask "What changed in deploy 4471?"')
    asked = Asked(
        text=question,
        root=folder(workspace),
        asked_at=moment(now) if now else None,
        thread=messages(thread) if thread else (),
        as_json=as_json,
        debug=debug,
    )
    try:
        raise typer.Exit(_run(ask_server(asked, server) if server else run_ask(asked)))
    except ServerError as error:
        refuse(str(error))


@app.command()
def runs(
    workspace: Workspace = Path(),
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many, newest first.")] = 20,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """List the newest questions and how each ended."""
    from bot.showing import list_runs  # noqa: PLC0415

    raise typer.Exit(_run(list_runs(folder(workspace), limit, as_json=as_json)))


@app.command()
def show(
    run: Annotated[str, typer.Argument(help="A run's id, or `last`.")],
    workspace: Workspace = Path(),
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Show a run again: its reply and every step."""
    from bot.showing import show_run  # noqa: PLC0415

    raise typer.Exit(_run(show_run(folder(workspace), run, as_json=as_json)))


@app.command()
def serve(
    workspace: Workspace = Path(),
    rotate_key: Annotated[  # noqa: FBT002
        bool,
        typer.Option("--rotate-key", help="Make a new signing key: old trace links stop working."),
    ] = False,
    now: Annotated[
        str, typer.Option(metavar="TIME", help="What time it is for those who ask without Slack.")
    ] = "",
    pace: Annotated[Path | None, typer.Option(metavar="FILE", hidden=True)] = None,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Answer in Slack and serve the trace pages.

    What an earlier process left unfinished is ended first.
    """
    from bot.serving import serve as run_serve  # noqa: PLC0415
    from bot.slack.identity import SlackSetupError  # noqa: PLC0415
    from bot.web.server import AddressError  # noqa: PLC0415

    root, asked_at = folder(workspace), moment(now) if now else None
    serving = run_serve(root, rotate=rotate_key, as_json=as_json, now=asked_at, pace=pace)
    try:
        raise typer.Exit(_run(serving))
    except (AddressError, SlackSetupError) as error:
        refuse(str(error))


@app.command()
def demo(
    workspace: Annotated[
        Path | None,
        typer.Option("--workspace", "-w", metavar="DIR", help="Keep the demo's files here."),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Of the local Slack's page.")] = 8065,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Start a local Slack with a real incident to ask about.

    It opens in the browser and needs no account.
    """
    from bot.demo import DemoStartError, Ports  # noqa: PLC0415
    from bot.demo import demo as run_demo  # noqa: PLC0415
    from bot.playground.incident import DemoError  # noqa: PLC0415

    root = folder(workspace) if workspace else None
    try:
        raise typer.Exit(_run(run_demo(root, Ports(slack=port), as_json=as_json)))
    except (DemoError, DemoStartError) as error:
        refuse(str(error))


@app.command(context_settings={"ignore_unknown_options": True, "help_option_names": []})
def playground(arguments: Annotated[list[str] | None, typer.Argument()] = None) -> None:
    """Start the local Slack alone."""
    from bot.playground import main as run_playground  # noqa: PLC0415

    raise typer.Exit(run_playground(arguments or []))


@app.command()
def doctor(
    workspace: Workspace = Path(),
    model: Annotated[  # noqa: FBT002
        bool, typer.Option("--model", help="Look at the language models instead.")
    ] = False,
    now: Now = "",
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Name what the bot lacks, in its data and in Slack."""
    from bot.examining import examine_bot, examine_models  # noqa: PLC0415

    root = folder(workspace)
    if model:
        raise typer.Exit(_run(examine_models(root, as_json=as_json)))
    raise typer.Exit(_run(examine_bot(root, moment(now), as_json=as_json)))


@app.command("eval")
def evaluate_cases(
    cases: Annotated[Path, typer.Argument(metavar="CASES.json", help="Questions with the truth.")],
    workspaces: Annotated[
        Path, typer.Option(metavar="DIR", help="Holds one workspace a case, named by its id.")
    ],
    model: Annotated[
        str, typer.Option(metavar="NAME", help="rules, or a configured model.")
    ] = "rules",
    settings_from: Annotated[
        Path, typer.Option("--workspace", "-w", metavar="DIR", help="Whose [model] section counts.")
    ] = Path(),
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Ask every question of a case file and score the answers."""
    from bot.eval import EvalError  # noqa: PLC0415
    from bot.evaluating import run_cases  # noqa: PLC0415

    settings_root = folder(settings_from)
    try:
        raise typer.Exit(_run(run_cases(cases, workspaces, model, settings_root, as_json=as_json)))
    except EvalError as error:
        refuse(str(error))


@app.command()
def replay(
    run: Annotated[str, typer.Argument(help="A run's id, or `last`.")],
    step: Annotated[
        int, typer.Option("--from", metavar="N", min=0, help="Go on live from this step.")
    ] = 0,
    model: Annotated[
        str, typer.Option(metavar="NAME", help="With --from: the model to go on with, else rules.")
    ] = "",
    workspace: Workspace = Path(),
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Drive a run again: offline, or live from a step.

    Offline, its journal says what the model and the tools returned.
    """
    from bot.replaying import fork_run, replay_run  # noqa: PLC0415

    root = folder(workspace)
    if step:
        raise typer.Exit(_run(fork_run(root, run, step, model or "rules", as_json=as_json)))
    if model:
        refuse(
            f"--model {quoted(model)} counts from a step on, and --from names none: to ask it again"
            f" from the first step, write `replay {run} --from 1 --model {model}`"
        )
    raise typer.Exit(_run(replay_run(root, run, as_json=as_json)))


@app.command()
def compare(
    first: Annotated[str, typer.Argument(metavar="RUN", help="A run's id, or `last`.")],
    second: Annotated[str, typer.Argument(metavar="RUN", help="Another one's.")],
    workspace: Workspace = Path(),
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Print the first difference of two runs."""
    from bot.replaying import compare_runs  # noqa: PLC0415

    root = folder(workspace)
    raise typer.Exit(_run(compare_runs(root, first, second, as_json=as_json)))


@app.command()
def manifest(
    workspace: Annotated[
        Path | None,
        typer.Option("--workspace", "-w", metavar="DIR", help="Whose oncall.toml the app is for."),
    ] = None,
    http: Annotated[
        str, typer.Option(metavar="URL", help="Slack posts to this public address of the bot.")
    ] = "",
    join: Annotated[  # noqa: FBT002
        bool, typer.Option("--join", help="Let the bot join channels by itself.")
    ] = False,
    link: Annotated[  # noqa: FBT002
        bool, typer.Option("--link", help="Print a link that creates the app.")
    ] = False,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Print the Slack app's manifest, to create the app from."""
    from bot.config import ConfigError  # noqa: PLC0415
    from bot.preparing import app_of, print_link, print_manifest  # noqa: PLC0415
    from bot.slack.manifest import JOIN_SCOPE  # noqa: PLC0415

    here = workspace or (Path() if Path("oncall.toml").is_file() else None)
    root = folder(here) if here else None
    try:
        made = app_of(root, http, (JOIN_SCOPE,) if join else ())
    except ConfigError as error:
        refuse(str(error))
    if link:
        print_link(made, as_json=as_json)
    else:
        print_manifest(made, as_json=as_json)


@app.command("demo-workspace")
def demo_workspace(
    target: Annotated[Path, typer.Argument(metavar="DIR", help="A new or empty folder.")],
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Make a folder with a real incident to ask about."""
    from bot.playground.incident import DemoError  # noqa: PLC0415
    from bot.preparing import make_demo  # noqa: PLC0415

    try:
        make_demo(folder(target), as_json=as_json)
    except DemoError as error:
        refuse(str(error))


@app.command()
def migrate(
    workspace: Workspace = Path(),
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Bring the store's database up to date. `ask` and `serve` do it by themselves."""
    from bot.preparing import migrate as run_migrate  # noqa: PLC0415

    raise typer.Exit(_run(run_migrate(folder(workspace), as_json=as_json)))


@app.command()
def erase(
    run: Annotated[str, typer.Argument(help="A run's id.")],
    workspace: Workspace = Path(),
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Delete a run with all that is stored of it."""
    from bot.erasing import erase_run  # noqa: PLC0415

    raise typer.Exit(_run(erase_run(folder(workspace), run, as_json=as_json)))


def main() -> None:
    """The script's entry. No traceback reaches a person, but with ONCALL_DEBUG set."""
    if not os.environ.get("ONCALL_DEBUG"):
        sys.excepthook = _say_fault
    _take_any_output()
    try:
        typer.main.get_command(app)()  # calling the app itself would put Typer's own hook in place
    except KeyboardInterrupt:
        sys.exit(LEFT)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(BAD_USE)
    except OSError as error:
        if os.environ.get("ONCALL_DEBUG"):
            raise
        where = f"{error.filename}: " if error.filename else ""
        tell(f"{where}{error.strerror or error}. Check the permissions and the space there.")
        sys.exit(BAD_USE)


def _take_any_output() -> None:
    """Write to an output that knows few letters what it can show, and nothing to one that is closed."""
    sys.stdout = sys.stdout or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    sys.stderr = sys.stderr or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def _say_fault(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """What a person sees of a fault that nothing else put in words."""
    del trace
    tell(f"a fault inside the bot: {kind.__name__}: {error}")
    tell("set ONCALL_DEBUG=1 to see where, and please report it")


def _run(work: Coroutine[Any, Any, int]) -> int:
    """Run a command and put what it cannot do in words."""
    from bot.config import ConfigError  # noqa: PLC0415
    from bot.runs.errors import NoRunError, StoreError  # noqa: PLC0415
    from tools.workspace import WorkspaceError  # noqa: PLC0415

    try:
        return asyncio.run(work)
    except (ConfigError, NoRunError, StoreError, WorkspaceError) as error:
        refuse(str(error))
