// HTTP under the client: one request, its answer, and errors with what the server said. It retries nothing.

/** What the server refused, or that it could not be reached (`status` is 0). */
export class ScreenObserverError extends Error {
  constructor(message, { status = 0, code = '', recoverable = false, context = {}, suggestedNextTool = null, cause } = {}) {
    super(message, { cause });
    this.name = 'ScreenObserverError';
    this.status = status;
    this.code = code;
    this.recoverable = recoverable;
    this.context = context;
    this.suggestedNextTool = suggestedNextTool;
  }
}

export class Transport {
  #base;
  #token;
  #timeout;

  constructor({ baseUrl = 'http://127.0.0.1:5001', token, timeoutMs = 120_000 } = {}) {
    this.#base = new URL(baseUrl);
    this.#token = token;
    this.#timeout = timeoutMs;
  }

  /** One request. `as` says how the answer is read: 'json', 'text' or 'bytes'. */
  async send(method, path, { query, body, as = 'json' } = {}) {
    const url = new URL(this.#base);
    url.pathname = this.#base.pathname.replace(/\/$/, '') + path;
    for (const [name, value] of Object.entries(query ?? {})) {
      if (value !== undefined && value !== null) url.searchParams.set(name, queryText(value));
    }
    const headers = { Accept: as === 'json' ? 'application/json' : '*/*' };
    if (this.#token) headers.Authorization = `Bearer ${this.#token}`;
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    const response = await this.#fetch(url, { method, headers, body: body && JSON.stringify(body) });
    if (!response.ok) throw await refusal(response);
    if (as === 'text') return response.text();
    if (as === 'bytes') return new Uint8Array(await response.arrayBuffer());
    return response.json();
  }

  async #fetch(url, request) {
    const limits = { redirect: 'error', signal: AbortSignal.timeout(this.#timeout) };
    try {
      return await fetch(url, { ...request, ...limits });
    } catch (cause) {
      const why = cause?.name === 'TimeoutError' ? `no answer within ${this.#timeout} ms` : (cause?.cause?.message ?? cause?.message);
      throw new ScreenObserverError(`${url.origin} cannot be reached: ${why}`, { cause });
    }
  }
}

/** Lists of words stand behind commas, what has parts is written as JSON. */
function queryText(value) {
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(',');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

async function refusal(response) {
  const text = await response.text();
  let error = {};
  try {
    error = JSON.parse(text).error ?? {};
  } catch {
    // What is no JSON is told as it is.
  }
  if (typeof error === 'string') error = { message: error };
  const message = error.message ?? `${response.status} ${response.statusText}: ${text.slice(0, 200)}`;
  return new ScreenObserverError(message, {
    status: response.status,
    code: error.code,
    recoverable: error.recoverable,
    context: error.context,
    suggestedNextTool: error.suggested_next_tool,
  });
}
