export interface ClientOptions {
  /** Where the server is; http://127.0.0.1:5001 unless it says otherwise. */
  baseUrl?: string;
  /** What the server asks for in `Authorization`. */
  token?: string;
  /** How long a request may take; 120000 unless it says otherwise. */
  timeoutMs?: number;
}

/** What the server refused, or that it could not be reached (`status` is 0). */
export class ScreenObserverError extends Error {
  status: number;
  code: string;
  recoverable: boolean;
  context: { [name: string]: unknown };
  suggestedNextTool: string | null;
}

export class Transport {
  constructor(options?: ClientOptions);
  /** One request, for routes that have no method of their own. */
  send(
    method: string,
    path: string,
    options?: { query?: { [name: string]: unknown }; body?: unknown; as?: 'json' | 'text' | 'bytes' },
  ): Promise<any>;
}
