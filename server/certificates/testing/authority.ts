/** A fake authority over TLS that answers with responses set by the test. It checks no signatures: `pebble` does. */
import { once } from "node:events";
import { createServer } from "node:https";
import { makeCertificate } from "./openssl.ts";

export interface CannedResponse {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON; null means that it never answers. */
  readonly body?: string | object | null;
}

export interface ReceivedRequest {
  readonly path: string;
  readonly method: string;
  /** The protected header, or null if the request is not signed. */
  readonly head: Readonly<Record<string, unknown>> | null;
  readonly payload: string;
}

export interface Authority extends AsyncDisposable {
  readonly origin: string;
  /** PEM. */
  readonly root: string;
  readonly requests: readonly ReceivedRequest[];
  /** Sets the responses for a path, in order; the last one is repeated. */
  readonly respond: (path: string, ...answers: readonly CannedResponse[]) => void;
}

/** Starts with a directory and nonces. */
export async function startAuthority(): Promise<Authority> {
  const { cert, key } = await makeCertificate({ names: ["127.0.0.1"] });
  const answers = new Map<string, CannedResponse[]>();
  const requests: ReceivedRequest[] = [];
  let nonces = 0;
  const server = createServer({ cert, key }, async (request, response) => {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const path = request.url ?? "";
    requests.push({ path, method: request.method ?? "", ...read(text) });
    const remaining = answers.get(path) ?? [];
    const canned: CannedResponse = (remaining.length > 1 ? remaining.shift() : remaining[0]) ?? {
      status: 404,
      body: {},
    };
    if (canned.body === null) return;
    nonces += 1;
    response.writeHead(canned.status ?? 200, { "replay-nonce": `number-${nonces}`, ...canned.headers });
    response.end(typeof canned.body === "object" ? JSON.stringify(canned.body) : (canned.body ?? ""));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const origin = `https://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
  const links = { newNonce: `${origin}/nonce`, newAccount: `${origin}/account`, newOrder: `${origin}/order` };
  answers.set("/dir", [{ body: links }]);
  answers.set("/nonce", [{}]);
  return {
    origin,
    root: cert,
    requests,
    respond: (path, ...canned) => void answers.set(path, [...canned]),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function read(text: string): Pick<ReceivedRequest, "head" | "payload"> {
  if (text === "") return { head: null, payload: "" };
  const { protected: head, payload } = JSON.parse(text);
  return { head: JSON.parse(decode(head)), payload: decode(payload) };
}

const decode = (text: string): string => Buffer.from(text, "base64url").toString();
