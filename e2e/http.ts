/** Sends one HTTP request with what `fetch` does not allow: a chosen Host header, and names below `localhost`. */
import { type Agent, type IncomingHttpHeaders, request } from "node:http";
import { text } from "node:stream/consumers";

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Parses the body as JSON. Throws with the body in the message if it is not JSON. */
  json<T>(): T;
}

interface Sent {
  readonly key?: string;
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, string>>;
  /** The content of a file, which is sent as browsers upload one. */
  readonly upload?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Reuses connections. Absent: a new connection for each request. */
  readonly agent?: Agent;
}

/** Sends a request to this machine, whatever the address says. Does not follow redirects. */
export function send(method: string, address: string, sent: Sent = {}): Promise<Answer> {
  const url = new URL(address);
  const { type, body } = contentOf(sent);
  const headers: Record<string, string> = { host: url.host, ...sent.headers };
  if (sent.key !== undefined) headers.authorization = `Bearer ${sent.key}`;
  if (body !== null) {
    headers["content-type"] = type;
    headers["content-length"] = String(Buffer.byteLength(body));
  }
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: "127.0.0.1",
        port: url.port,
        path: url.pathname + url.search,
        method,
        headers,
        agent: sent.agent ?? false,
      },
      (incoming) => {
        text(incoming).then(
          (received) => resolve(answer(incoming.statusCode ?? 0, incoming.headers, received)),
          reject,
        );
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

function contentOf({ json, form, upload }: Sent): { readonly type: string; readonly body: string | null } {
  if (form !== undefined) return { type: "application/x-www-form-urlencoded", body: String(new URLSearchParams(form)) };
  if (upload === undefined) return { type: "application/json", body: json === undefined ? null : JSON.stringify(json) };
  const head = 'Content-Disposition: form-data; name="file"; filename="file.bin"';
  return { type: "multipart/form-data; boundary=end", body: `--end\r\n${head}\r\n\r\n${upload}\r\n--end--\r\n` };
}

function answer(status: number, headers: IncomingHttpHeaders, received: string): Answer {
  return {
    status,
    headers,
    text: received,
    json: () => {
      try {
        return JSON.parse(received);
      } catch (cause) {
        throw new Error(`Not JSON (status ${status}): ${received.slice(0, 500)}`, { cause });
      }
    },
  };
}
