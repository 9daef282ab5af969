/** Serves HTTP-01 challenges from the database to a certificate authority. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { Database } from "../store/database.ts";
import { listChallenges } from "../store/domains/acmeChallenges.ts";

export interface ChallengeServer extends AsyncDisposable {
  readonly port: number;
  /** Names that get 404, whatever the database contains. */
  readonly unknown: Set<string>;
}

export async function startChallengeServer(database: () => Database): Promise<ChallengeServer> {
  const unknown = new Set<string>();
  const server = createServer(async (request, response) => {
    const host = (request.headers.host ?? "").replace(/:\d+$/, "");
    const all = await listChallenges(database());
    const found = all.find((each) => each.host === host && request.url === `/.well-known/acme-challenge/${each.token}`);
    response.statusCode = found && !unknown.has(host) ? 200 : 404;
    response.end(response.statusCode === 200 ? found?.content : "nothing");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" && address ? address.port : 0,
    unknown,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
