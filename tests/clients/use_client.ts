// Uses the packed and installed client as a program would: types are checked by tsc, the rest by a running server.
import { ScreenObserverClient, ScreenObserverError, VERSION } from 'os-screen-observer-client';

declare const process: { argv: string[]; exitCode: number };

const [baseUrl, version, token] = process.argv.slice(2);
const client = new ScreenObserverClient({ baseUrl, token });
let passed = 0;
let failed = 0;

function check(what: string, holds: boolean, detail: unknown = ''): void {
  if (holds) passed += 1;
  else {
    failed += 1;
    console.log(`FAILED [typescript] ${what}`, detail);
  }
}

async function refused(promise: Promise<unknown>): Promise<ScreenObserverError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof ScreenObserverError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

const health = await client.getHealthz();
check('the version is that of the server', VERSION === version && health.version === version, health);
check('tools are listed', (await client.getTools()).tools.includes('list_windows'));

const windows = await client.call('list_windows');
check('a tool answers with its type', windows.windows[0]?.title === 'Acme Login', windows);
const found = await client.call('find_element', { selector: '//Button[name="Login"]' });
check('a tool with arguments answers', found.ambiguous_matches === 1, found);
// @ts-expect-error a selector is required
const without = await refused(client.call('find_element', {}));
check('a wrong call is refused with its code', without.status === 400 && without.code === 'BadRequest', without);
// @ts-expect-error there is no such tool
const unknown = await refused(client.call('no_such_tool'));
check('an unknown tool is refused', unknown.status >= 400, unknown);

const made = await client.createJob({ job: 'log in as alice', planner: 'scripted:demo', wait_ms: 60000 });
check('a job is done', made.status === 'succeeded', made);
const job = await client.getJob(made.job_id);
check('a job is read', JSON.stringify(job.result) === '{"greeting":"Hello, alice"}', job);
check('jobs are listed', (await client.getJobs({ status: 'succeeded', limit: 5 })).jobs.length === 1);
const events = await client.getJobEvents(made.job_id, { after: 2, limit: 3 });
check('events are paged', events.events.length === 3 && events.next === 5, events);
const over = await refused(client.pauseJob(made.job_id));
check('a conflict is told', over.status === 409 && over.code === 'JobConflict', over);
check('what is not there is told', (await refused(client.getJob('job_/x?y'))).status === 404);
check('text is text', (await client.getMetrics()).includes('# TYPE'));
check('a route without a method is reached', (await client.send('GET', '/api/halt')).halted === false);
const nobody = await refused(new ScreenObserverClient({ baseUrl: 'http://127.0.0.1:9' }).getHealthz());
check('nobody there is told', nobody.status === 0, nobody);

console.log(`typescript client: ${passed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
