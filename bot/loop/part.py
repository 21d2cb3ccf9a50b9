"""One thing that a question asks, with all that it names, and its name for people.

Pure data. Knows no question and no answer.
"""

from __future__ import annotations

from pydantic import AwareDatetime, BaseModel, ConfigDict

from bot.loop.entities import DeployRef
from bot.loop.part_kinds import PartKind
from bot.loop.times import OnsetWindow


class Part(BaseModel):
    """One thing that is asked. A CHANGES part without ``deploy`` asks about the cause's deploy; the
    ``deploy`` of a LISTING or SHIPPED part is the one beside which it asks for others.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: PartKind
    text: str
    deploy: DeployRef | None = None
    service: str | None = None
    incident: str | None = None
    environment: str | None = None
    since: AwareDatetime | None = None
    until: AwareDatetime | None = None
    around: OnsetWindow | None = None
    unread: str = ""
    path: str | None = None
    person: str | None = None

    @property
    def _deploy_words(self) -> str:
        return self.deploy.words if self.deploy else "that deploy"

    @property
    def words(self) -> str:
        """The part as a reply names it when it stays unanswered."""
        match self.kind:
            case PartKind.CAUSE:
                return "what caused the incident"
            case PartKind.CHANGES:
                return f"what changed in {self._deploy_words}"
            case PartKind.WHO_WHEN:
                what = self.deploy.words if self.deploy else (self.service or "that deploy")
                return f"who deployed it and when ({what})"
            case PartKind.LISTING:
                by = f" by {self.person}" if self.person else ""
                return f"what was deployed{f' of {self.service}' if self.service else ''}{by}"
            case PartKind.WAS_IT:
                return f"whether it was {self._deploy_words}"
            case PartKind.FIX:
                what = f"{self.deploy.words} fixed it" if self.deploy else "a later deploy fixed it"
                return f"whether {what}"
            case PartKind.SHIPPED:
                return f"whether {self.service or 'anything'} was deployed in that time"
            case PartKind.BEFORE_ONSET:
                return "the last deploy before it began"
            case PartKind.MOVED:
                return f"where {self.path or 'that file'} was before"
            case PartKind.SETTING:
                return "which setting brings the old behaviour back"
            case PartKind.ROLLBACK | PartKind.FORWARD:
                back = self.kind is PartKind.ROLLBACK
                what, joint = ("a rollback", "of") if back else ("rolling forward", "to")
                return f"whether {what}{f' {joint} {self.deploy.words}' if self.deploy else ''} is safe"
            case PartKind.INCIDENTS:
                return "which incidents there are"
            case PartKind.INCIDENT:
                return "the state of the incident, when it began and ended"
            case PartKind.RUNNING:
                return f"which version{f' of {self.service}' if self.service else ''} is running"
            case PartKind.COMMIT | PartKind.LIVE:
                which = "which commit" if self.kind is PartKind.COMMIT else "live or not:"
                return f"{which} {self._deploy_words} is"
            case PartKind.OWNER:
                return f"who owns {self.service or 'it'} and is on call"
