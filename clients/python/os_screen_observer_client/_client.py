# Generated from the server's OpenAPI document by tests/suite/client_code. Do not edit.
"""The client: a method for each route of the server, and `call` for each of its tools."""
from typing import Any, Literal, overload
from urllib.parse import quote

from ._transport import Transport
from . import _types

VERSION = "0.1.0"


class ScreenObserverClient(Transport):
    @overload
    def call(self, name: Literal["act"], arguments: _types.ActArguments) -> _types.ActReply: ...
    @overload
    def call(self, name: Literal["assert_state"], arguments: _types.AssertStateArguments = ...) -> _types.AssertStateReply: ...
    @overload
    def call(self, name: Literal["bring_to_foreground"], arguments: _types.BringToForegroundArguments = ...) -> _types.BringToForegroundReply: ...
    @overload
    def call(self, name: Literal["browser_state"], arguments: _types.BrowserStateArguments = ...) -> _types.BrowserStateReply: ...
    @overload
    def call(self, name: Literal["choose_files"], arguments: _types.ChooseFilesArguments) -> _types.ChooseFilesReply: ...
    @overload
    def call(self, name: Literal["clear_site_data"], arguments: _types.ClearSiteDataArguments) -> _types.ClearSiteDataReply: ...
    @overload
    def call(self, name: Literal["clear_text"], arguments: _types.ClearTextArguments = ...) -> _types.ClearTextReply: ...
    @overload
    def call(self, name: Literal["click_at"], arguments: _types.ClickAtArguments = ...) -> _types.ClickAtReply: ...
    @overload
    def call(self, name: Literal["click_element"], arguments: _types.ClickElementArguments = ...) -> _types.ClickElementReply: ...
    @overload
    def call(self, name: Literal["click_element_and_observe"], arguments: _types.ClickElementAndObserveArguments = ...) -> _types.ClickElementAndObserveReply: ...
    @overload
    def call(self, name: Literal["click_text"], arguments: _types.ClickTextArguments) -> _types.ClickTextReply: ...
    @overload
    def call(self, name: Literal["clipboard_get"], arguments: _types.ClipboardGetArguments = ...) -> _types.ClipboardGetReply: ...
    @overload
    def call(self, name: Literal["clipboard_set"], arguments: _types.ClipboardSetArguments) -> _types.ClipboardSetReply: ...
    @overload
    def call(self, name: Literal["double_click_at"], arguments: _types.DoubleClickAtArguments = ...) -> _types.DoubleClickAtReply: ...
    @overload
    def call(self, name: Literal["double_click_element"], arguments: _types.DoubleClickElementArguments = ...) -> _types.DoubleClickElementReply: ...
    @overload
    def call(self, name: Literal["downloads"], arguments: _types.DownloadsArguments = ...) -> _types.DownloadsReply: ...
    @overload
    def call(self, name: Literal["drag"], arguments: _types.DragArguments) -> _types.DragReply: ...
    @overload
    def call(self, name: Literal["exec_command"], arguments: _types.ExecCommandArguments) -> _types.ExecCommandReply: ...
    @overload
    def call(self, name: Literal["find"], arguments: _types.FindArguments = ...) -> _types.FindReply: ...
    @overload
    def call(self, name: Literal["find_element"], arguments: _types.FindElementArguments) -> _types.FindElementReply: ...
    @overload
    def call(self, name: Literal["finish_job"], arguments: _types.FinishJobArguments) -> _types.FinishJobReply: ...
    @overload
    def call(self, name: Literal["focus_element"], arguments: _types.FocusElementArguments = ...) -> _types.FocusElementReply: ...
    @overload
    def call(self, name: Literal["get_budget_status"], arguments: _types.GetBudgetStatusArguments = ...) -> _types.GetBudgetStatusReply: ...
    @overload
    def call(self, name: Literal["get_capabilities"], arguments: _types.GetCapabilitiesArguments = ...) -> _types.GetCapabilitiesReply: ...
    @overload
    def call(self, name: Literal["get_cursor"], arguments: _types.GetCursorArguments = ...) -> _types.GetCursorReply: ...
    @overload
    def call(self, name: Literal["get_full_screenshot"], arguments: _types.GetFullScreenshotArguments = ...) -> _types.GetFullScreenshotReply: ...
    @overload
    def call(self, name: Literal["get_monitors"], arguments: _types.GetMonitorsArguments = ...) -> _types.GetMonitorsReply: ...
    @overload
    def call(self, name: Literal["get_ocr"], arguments: _types.GetOcrArguments = ...) -> _types.GetOcrReply: ...
    @overload
    def call(self, name: Literal["get_redaction_status"], arguments: _types.GetRedactionStatusArguments = ...) -> _types.GetRedactionStatusReply: ...
    @overload
    def call(self, name: Literal["get_screen_description"], arguments: _types.GetScreenDescriptionArguments = ...) -> _types.GetScreenDescriptionReply: ...
    @overload
    def call(self, name: Literal["get_screen_sketch"], arguments: _types.GetScreenSketchArguments = ...) -> _types.GetScreenSketchReply: ...
    @overload
    def call(self, name: Literal["get_screenshot"], arguments: _types.GetScreenshotArguments = ...) -> _types.GetScreenshotReply: ...
    @overload
    def call(self, name: Literal["get_screenshot_cropped"], arguments: _types.GetScreenshotCroppedArguments = ...) -> _types.GetScreenshotCroppedReply: ...
    @overload
    def call(self, name: Literal["get_visible_areas"], arguments: _types.GetVisibleAreasArguments = ...) -> _types.GetVisibleAreasReply: ...
    @overload
    def call(self, name: Literal["get_web_task"], arguments: _types.GetWebTaskArguments) -> _types.GetWebTaskReply: ...
    @overload
    def call(self, name: Literal["get_window_structure"], arguments: _types.GetWindowStructureArguments = ...) -> _types.GetWindowStructureReply: ...
    @overload
    def call(self, name: Literal["hover_at"], arguments: _types.HoverAtArguments = ...) -> _types.HoverAtReply: ...
    @overload
    def call(self, name: Literal["hover_element"], arguments: _types.HoverElementArguments = ...) -> _types.HoverElementReply: ...
    @overload
    def call(self, name: Literal["invoke_element"], arguments: _types.InvokeElementArguments = ...) -> _types.InvokeElementReply: ...
    @overload
    def call(self, name: Literal["job_control"], arguments: _types.JobControlArguments) -> _types.JobControlReply: ...
    @overload
    def call(self, name: Literal["job_status"], arguments: _types.JobStatusArguments) -> _types.JobStatusReply: ...
    @overload
    def call(self, name: Literal["keep_download"], arguments: _types.KeepDownloadArguments) -> _types.KeepDownloadReply: ...
    @overload
    def call(self, name: Literal["key_into_element"], arguments: _types.KeyIntoElementArguments) -> _types.KeyIntoElementReply: ...
    @overload
    def call(self, name: Literal["launch_app"], arguments: _types.LaunchAppArguments) -> _types.LaunchAppReply: ...
    @overload
    def call(self, name: Literal["list_apps"], arguments: _types.ListAppsArguments = ...) -> _types.ListAppsReply: ...
    @overload
    def call(self, name: Literal["list_jobs"], arguments: _types.ListJobsArguments = ...) -> _types.ListJobsReply: ...
    @overload
    def call(self, name: Literal["list_recipes"], arguments: _types.ListRecipesArguments = ...) -> _types.ListRecipesReply: ...
    @overload
    def call(self, name: Literal["list_windows"], arguments: _types.ListWindowsArguments = ...) -> _types.ListWindowsReply: ...
    @overload
    def call(self, name: Literal["load_scenario"], arguments: _types.LoadScenarioArguments) -> _types.LoadScenarioReply: ...
    @overload
    def call(self, name: Literal["look"], arguments: _types.LookArguments = ...) -> _types.LookReply: ...
    @overload
    def call(self, name: Literal["observe_window"], arguments: _types.ObserveWindowArguments = ...) -> _types.ObserveWindowReply: ...
    @overload
    def call(self, name: Literal["ocr_find"], arguments: _types.OcrFindArguments = ...) -> _types.OcrFindReply: ...
    @overload
    def call(self, name: Literal["open_url"], arguments: _types.OpenUrlArguments) -> _types.OpenUrlReply: ...
    @overload
    def call(self, name: Literal["page_history"], arguments: _types.PageHistoryArguments) -> _types.PageHistoryReply: ...
    @overload
    def call(self, name: Literal["page_log"], arguments: _types.PageLogArguments = ...) -> _types.PageLogReply: ...
    @overload
    def call(self, name: Literal["press_key"], arguments: _types.PressKeyArguments) -> _types.PressKeyReply: ...
    @overload
    def call(self, name: Literal["press_key_and_observe"], arguments: _types.PressKeyAndObserveArguments) -> _types.PressKeyAndObserveReply: ...
    @overload
    def call(self, name: Literal["propose_action"], arguments: _types.ProposeActionArguments) -> _types.ProposeActionReply: ...
    @overload
    def call(self, name: Literal["read_page"], arguments: _types.ReadPageArguments = ...) -> _types.ReadPageReply: ...
    @overload
    def call(self, name: Literal["replay_start"], arguments: _types.ReplayStartArguments) -> _types.ReplayStartReply: ...
    @overload
    def call(self, name: Literal["replay_status"], arguments: _types.ReplayStatusArguments) -> _types.ReplayStatusReply: ...
    @overload
    def call(self, name: Literal["replay_step"], arguments: _types.ReplayStepArguments) -> _types.ReplayStepReply: ...
    @overload
    def call(self, name: Literal["replay_stop"], arguments: _types.ReplayStopArguments) -> _types.ReplayStopReply: ...
    @overload
    def call(self, name: Literal["right_click_at"], arguments: _types.RightClickAtArguments = ...) -> _types.RightClickAtReply: ...
    @overload
    def call(self, name: Literal["right_click_element"], arguments: _types.RightClickElementArguments = ...) -> _types.RightClickElementReply: ...
    @overload
    def call(self, name: Literal["run_job"], arguments: _types.RunJobArguments) -> _types.RunJobReply: ...
    @overload
    def call(self, name: Literal["run_web_task"], arguments: _types.RunWebTaskArguments) -> _types.RunWebTaskReply: ...
    @overload
    def call(self, name: Literal["save_session"], arguments: _types.SaveSessionArguments = ...) -> _types.SaveSessionReply: ...
    @overload
    def call(self, name: Literal["scroll"], arguments: _types.ScrollArguments = ...) -> _types.ScrollReply: ...
    @overload
    def call(self, name: Literal["select_option"], arguments: _types.SelectOptionArguments = ...) -> _types.SelectOptionReply: ...
    @overload
    def call(self, name: Literal["sessions"], arguments: _types.SessionsArguments = ...) -> _types.SessionsReply: ...
    @overload
    def call(self, name: Literal["set_value"], arguments: _types.SetValueArguments) -> _types.SetValueReply: ...
    @overload
    def call(self, name: Literal["snapshot"], arguments: _types.SnapshotArguments = ...) -> _types.SnapshotReply: ...
    @overload
    def call(self, name: Literal["snapshot_diff"], arguments: _types.SnapshotDiffArguments) -> _types.SnapshotDiffReply: ...
    @overload
    def call(self, name: Literal["snapshot_drop"], arguments: _types.SnapshotDropArguments) -> _types.SnapshotDropReply: ...
    @overload
    def call(self, name: Literal["snapshot_get"], arguments: _types.SnapshotGetArguments) -> _types.SnapshotGetReply: ...
    @overload
    def call(self, name: Literal["trace_start"], arguments: _types.TraceStartArguments = ...) -> _types.TraceStartReply: ...
    @overload
    def call(self, name: Literal["trace_status"], arguments: _types.TraceStatusArguments = ...) -> _types.TraceStatusReply: ...
    @overload
    def call(self, name: Literal["trace_stop"], arguments: _types.TraceStopArguments = ...) -> _types.TraceStopReply: ...
    @overload
    def call(self, name: Literal["type_and_observe"], arguments: _types.TypeAndObserveArguments) -> _types.TypeAndObserveReply: ...
    @overload
    def call(self, name: Literal["type_text"], arguments: _types.TypeTextArguments) -> _types.TypeTextReply: ...
    @overload
    def call(self, name: Literal["vision_diff"], arguments: _types.VisionDiffArguments = ...) -> _types.VisionDiffReply: ...
    @overload
    def call(self, name: Literal["vision_stability"], arguments: _types.VisionStabilityArguments = ...) -> _types.VisionStabilityReply: ...
    @overload
    def call(self, name: Literal["wait_for"], arguments: _types.WaitForArguments) -> _types.WaitForReply: ...
    @overload
    def call(self, name: Literal["wait_idle"], arguments: _types.WaitIdleArguments = ...) -> _types.WaitIdleReply: ...
    @overload
    def call(self, name: Literal["window_action"], arguments: _types.WindowActionArguments) -> _types.WindowActionReply: ...
    @overload
    def call(self, name: Literal["zoom"], arguments: _types.ZoomArguments = ...) -> _types.ZoomReply: ...
    def call(self, name: str, arguments: Any = None) -> Any:
        """Calls a tool."""
        return self.send("POST", f"/api/tool/{quote(name, safe='')}", body=arguments or {})

    def get_tools(self) -> _types.GetToolsReply:
        """The names of all tools."""
        return self.send("GET", "/api/tools")  # type: ignore[no-any-return]

    def get_healthz(self) -> _types.GetHealthzReply:
        """Health of the server."""
        return self.send("GET", "/api/healthz")  # type: ignore[no-any-return]

    def get_health(self) -> _types.GetHealthReply:
        """Whether the server lives, and whether it runs web tasks."""
        return self.send("GET", "/health")  # type: ignore[no-any-return]

    def get_metrics(self) -> str:
        """Counters in Prometheus' text format."""
        return self.send("GET", "/api/metrics", read_as="text")  # type: ignore[no-any-return]

    def get_openapi(self) -> dict[str, Any]:
        """This document."""
        return self.send("GET", "/api/openapi.json")  # type: ignore[no-any-return]

    def get_calls(self, *, after: int | None = None) -> _types.GetCallsReply:
        """The latest calls."""
        return self.send("GET", "/api/calls", query={"after": after})  # type: ignore[no-any-return]

    def get_halt(self) -> _types.GetHaltReply:
        """Whether all input is stopped."""
        return self.send("GET", "/api/halt")  # type: ignore[no-any-return]

    def post_halt(self, body: _types.PostHaltBody | None = None) -> _types.PostHaltReply:
        """Stop all input."""
        return self.send("POST", "/api/halt", body=body or {})  # type: ignore[no-any-return]

    def release_halt(self) -> _types.ReleaseHaltReply:
        """Resume input."""
        return self.send("POST", "/api/halt/release")  # type: ignore[no-any-return]

    def get_approvals(self) -> _types.GetApprovalsReply:
        """Approvals waiting for a person."""
        return self.send("GET", "/api/approvals")  # type: ignore[no-any-return]

    def get_approval_picture(self, id: str) -> bytes:
        """Screenshot of the target window."""
        return self.send("GET", f"/api/approvals/{quote(id, safe='')}/picture", read_as="bytes")  # type: ignore[no-any-return]

    def post_approval(self, id: str, body: _types.PostApprovalBody) -> _types.PostApprovalReply:
        """Allow or deny it."""
        return self.send("POST", f"/api/approvals/{quote(id, safe='')}", body=body)  # type: ignore[no-any-return]

    def get_traces(self) -> _types.GetTracesReply:
        """The recorded sessions, the newest first."""
        return self.send("GET", "/api/traces")  # type: ignore[no-any-return]

    def get_trace(self, id: str) -> str:
        """One of them as an HTML page."""
        return self.send("GET", f"/api/traces/{quote(id, safe='')}", read_as="text")  # type: ignore[no-any-return]

    def cancel_job(self, job_id: str) -> _types.CancelJobReply:
        """Cancel a job; it sends nothing more."""
        return self.send("POST", f"/api/jobs/{quote(job_id, safe='')}/cancel")  # type: ignore[no-any-return]

    def pause_job(self, job_id: str) -> _types.PauseJobReply:
        """Pause a job before its next input."""
        return self.send("POST", f"/api/jobs/{quote(job_id, safe='')}/pause")  # type: ignore[no-any-return]

    def resume_job(self, job_id: str) -> _types.ResumeJobReply:
        """Let a job go on."""
        return self.send("POST", f"/api/jobs/{quote(job_id, safe='')}/resume")  # type: ignore[no-any-return]

    def takeover_job(self, job_id: str) -> _types.TakeoverJobReply:
        """Take the desktop of a job over."""
        return self.send("POST", f"/api/jobs/{quote(job_id, safe='')}/takeover")  # type: ignore[no-any-return]

    def release_job(self, job_id: str) -> _types.ReleaseJobReply:
        """Give it back."""
        return self.send("POST", f"/api/jobs/{quote(job_id, safe='')}/release")  # type: ignore[no-any-return]

    def answer_job(self, job_id: str, body: _types.AnswerJobBody) -> _types.AnswerJobReply:
        """Allow or deny what a job asks."""
        return self.send("POST", f"/api/jobs/{quote(job_id, safe='')}/answer", body=body)  # type: ignore[no-any-return]

    def get_job_events(self, job_id: str, *, after: int | None = None, limit: int | None = None) -> _types.GetJobEventsReply:
        """What happened to a job, event by event."""
        return self.send("GET", f"/api/jobs/{quote(job_id, safe='')}/events", query={"after": after, "limit": limit})  # type: ignore[no-any-return]

    def get_job_artifacts(self, job_id: str) -> _types.GetJobArtifactsReply:
        """The files of a job."""
        return self.send("GET", f"/api/jobs/{quote(job_id, safe='')}/artifacts")  # type: ignore[no-any-return]

    def get_job_artifact(self, job_id: str, *, path: str) -> bytes:
        """One of them."""
        return self.send("GET", f"/api/jobs/{quote(job_id, safe='')}/artifact", query={"path": path}, read_as="bytes")  # type: ignore[no-any-return]

    def get_stats(self) -> _types.GetStatsReply:
        """All jobs together: counts, success, cost, durations."""
        return self.send("GET", "/api/stats")  # type: ignore[no-any-return]

    def create_job(self, body: _types.RunJobArguments) -> _types.RunJobReply:
        """Queue a job: a planner works toward a goal on a desk of its own, within limits."""
        return self.send("POST", "/api/jobs", body=body)  # type: ignore[no-any-return]

    def get_jobs(self, *, status: str | None = None, limit: int | None = None) -> _types.ListJobsReply:
        """All jobs of the store, the newest first."""
        return self.send("GET", "/api/jobs", query={"status": status, "limit": limit})  # type: ignore[no-any-return]

    def get_job(self, job_id: str, *, wait_ms: int | None = None) -> _types.JobStatusReply:
        """How a job goes: status, result, steps, usage and cost, open approvals."""
        return self.send("GET", f"/api/jobs/{quote(job_id, safe='')}", query={"wait_ms": wait_ms})  # type: ignore[no-any-return]

    def get_recipes(self) -> _types.ListRecipesReply:
        """What is known of sites: recipes, and which of them run without a model."""
        return self.send("GET", "/v1/recipes")  # type: ignore[no-any-return]

    def get_sessions(self, *, sessionId: str | None = None) -> _types.SessionsReply:
        """The sessions of web tasks, or one of them: its defaults, notes and latest tasks."""
        return self.send("GET", "/v1/sessions", query={"sessionId": sessionId})  # type: ignore[no-any-return]

    def create_session(self, body: _types.CreateSessionBody) -> _types.SaveSessionReply:
        """One of save_session."""
        return self.send("POST", "/v1/sessions", body=body)  # type: ignore[no-any-return]

    def get_session(self, session_id: str) -> _types.SessionsReply:
        """The sessions of web tasks, or one of them: its defaults, notes and latest tasks."""
        return self.send("GET", f"/v1/sessions/{quote(session_id, safe='')}")  # type: ignore[no-any-return]

    def update_session(self, session_id: str, body: _types.UpdateSessionBody) -> _types.SaveSessionReply:
        """One of save_session."""
        return self.send("PATCH", f"/v1/sessions/{quote(session_id, safe='')}", body=body)  # type: ignore[no-any-return]

    def run_task(self, body: _types.RunTaskBody) -> _types.RunWebTaskReply:
        """One of run_web_task."""
        return self.send("POST", "/v1/tasks/run", body=body)  # type: ignore[no-any-return]

    def get_task(self, task_id: str, *, waitMs: int | None = None) -> _types.GetWebTaskReply:
        """How a web task goes: status, result, steps, timings, error."""
        return self.send("GET", f"/v1/tasks/{quote(task_id, safe='')}", query={"waitMs": waitMs})  # type: ignore[no-any-return]
