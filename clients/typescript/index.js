// Generated from the server's OpenAPI document by tests/suite/client_code. Do not edit.
import { Transport } from './transport.js';

export { ScreenObserverError } from './transport.js';

/** The version of the server that this client was made for. */
export const VERSION = '0.1.0';

export class ScreenObserverClient extends Transport {
  /** Calls a tool. */
  call(name, args = {}) {
    return this.send('POST', `/api/tool/${encodeURIComponent(name)}`, { body: args });
  }

  /** The names of all tools. */
  getTools() {
    return this.send('GET', `/api/tools`);
  }

  /** Health of the server. */
  getHealthz() {
    return this.send('GET', `/api/healthz`);
  }

  /** Whether the server lives, and whether it runs web tasks. */
  getHealth() {
    return this.send('GET', `/health`);
  }

  /** Counters in Prometheus' text format. */
  getMetrics() {
    return this.send('GET', `/api/metrics`, { as: 'text' });
  }

  /** This document. */
  getOpenapi() {
    return this.send('GET', `/api/openapi.json`);
  }

  /** The latest calls. */
  getCalls(query = {}) {
    return this.send('GET', `/api/calls`, { query });
  }

  /** Whether all input is stopped. */
  getHalt() {
    return this.send('GET', `/api/halt`);
  }

  /** Stop all input. */
  postHalt(body = {}) {
    return this.send('POST', `/api/halt`, { body });
  }

  /** Resume input. */
  releaseHalt() {
    return this.send('POST', `/api/halt/release`);
  }

  /** Approvals waiting for a person. */
  getApprovals() {
    return this.send('GET', `/api/approvals`);
  }

  /** Screenshot of the target window. */
  getApprovalPicture(id) {
    return this.send('GET', `/api/approvals/${encodeURIComponent(id)}/picture`, { as: 'bytes' });
  }

  /** Allow or deny it. */
  postApproval(id, body) {
    return this.send('POST', `/api/approvals/${encodeURIComponent(id)}`, { body });
  }

  /** The recorded sessions, the newest first. */
  getTraces() {
    return this.send('GET', `/api/traces`);
  }

  /** One of them as an HTML page. */
  getTrace(id) {
    return this.send('GET', `/api/traces/${encodeURIComponent(id)}`, { as: 'text' });
  }

  /** Cancel a job; it sends nothing more. */
  cancelJob(jobId) {
    return this.send('POST', `/api/jobs/${encodeURIComponent(jobId)}/cancel`);
  }

  /** Pause a job before its next input. */
  pauseJob(jobId) {
    return this.send('POST', `/api/jobs/${encodeURIComponent(jobId)}/pause`);
  }

  /** Let a job go on. */
  resumeJob(jobId) {
    return this.send('POST', `/api/jobs/${encodeURIComponent(jobId)}/resume`);
  }

  /** Take the desktop of a job over. */
  takeoverJob(jobId) {
    return this.send('POST', `/api/jobs/${encodeURIComponent(jobId)}/takeover`);
  }

  /** Give it back. */
  releaseJob(jobId) {
    return this.send('POST', `/api/jobs/${encodeURIComponent(jobId)}/release`);
  }

  /** Allow or deny what a job asks. */
  answerJob(jobId, body) {
    return this.send('POST', `/api/jobs/${encodeURIComponent(jobId)}/answer`, { body });
  }

  /** What happened to a job, event by event. */
  getJobEvents(jobId, query = {}) {
    return this.send('GET', `/api/jobs/${encodeURIComponent(jobId)}/events`, { query });
  }

  /** The files of a job. */
  getJobArtifacts(jobId) {
    return this.send('GET', `/api/jobs/${encodeURIComponent(jobId)}/artifacts`);
  }

  /** One of them. */
  getJobArtifact(jobId, query) {
    return this.send('GET', `/api/jobs/${encodeURIComponent(jobId)}/artifact`, { query, as: 'bytes' });
  }

  /** All jobs together: counts, success, cost, durations. */
  getStats() {
    return this.send('GET', `/api/stats`);
  }

  /** Queue a job: a planner works toward a goal on a desk of its own, within limits. */
  createJob(body) {
    return this.send('POST', `/api/jobs`, { body });
  }

  /** All jobs of the store, the newest first. */
  getJobs(query = {}) {
    return this.send('GET', `/api/jobs`, { query });
  }

  /** How a job goes: status, result, steps, usage and cost, open approvals. */
  getJob(jobId, query = {}) {
    return this.send('GET', `/api/jobs/${encodeURIComponent(jobId)}`, { query });
  }

  /** What is known of sites: recipes, and which of them run without a model. */
  getRecipes() {
    return this.send('GET', `/v1/recipes`);
  }

  /** The sessions of web tasks, or one of them: its defaults, notes and latest tasks. */
  getSessions(query = {}) {
    return this.send('GET', `/v1/sessions`, { query });
  }

  /** One of save_session. */
  createSession(body) {
    return this.send('POST', `/v1/sessions`, { body });
  }

  /** The sessions of web tasks, or one of them: its defaults, notes and latest tasks. */
  getSession(sessionId) {
    return this.send('GET', `/v1/sessions/${encodeURIComponent(sessionId)}`);
  }

  /** One of save_session. */
  updateSession(sessionId, body) {
    return this.send('PATCH', `/v1/sessions/${encodeURIComponent(sessionId)}`, { body });
  }

  /** One of run_web_task. */
  runTask(body) {
    return this.send('POST', `/v1/tasks/run`, { body });
  }

  /** How a web task goes: status, result, steps, timings, error. */
  getTask(taskId, query = {}) {
    return this.send('GET', `/v1/tasks/${encodeURIComponent(taskId)}`, { query });
  }
}
