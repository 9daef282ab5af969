/** A real OpenID Connect provider in a thread of its own, so that its clock can be wrong. Listens on a free port of this machine. */
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { createServer, type RequestListener } from "node:http";
import { parentPort } from "node:worker_threads";
import { Provider } from "oidc-provider";
import type { Answer, Order } from "./provider.ts";
import { adapterOf, type ProviderStore } from "./providerStore.ts";

const port = parentPort;
if (port === null) throw new Error("This is the main module of a thread");

const trueNow = Date.now;
let handle: RequestListener = (_request, response) => response.writeHead(503).end();
let redirectUris: readonly string[] = [];
const store: ProviderStore = new Map();
const accounts = new Map<string, Extract<Order, { kind: "account" }>>();

const server = createServer((request, response) => handle(request, response));
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("Not listening on a port");
  const issuer = `http://127.0.0.1:${address.port}`;
  port.on("message", (order: Order) => {
    obey(issuer, order);
    answer({ kind: "done" });
  });
  answer({ kind: "listening", issuer });
});

const answer = (message: Answer) => port.postMessage(message);

function obey(issuer: string, order: Order): void {
  if (order.kind === "account") accounts.set(order.login, order);
  if (order.kind === "clock") Date.now = () => trueNow() + order.seconds * 1000;
  if (order.kind === "redirect") redirectUris = order.uris;
  if (order.kind === "redirect" || order.kind === "keys") handle = newProvider(issuer);
}

/** Each one has a key of its own. */
function newProvider(issuer: string): RequestListener {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const key = { ...privateKey.export({ format: "jwk" }), use: "sig", kid: randomUUID() };
  const provider = new Provider(issuer, {
    adapter: adapterOf(store),
    clients: [{ client_id: "sitewright", client_secret: "a secret of tests", redirect_uris: [...redirectUris] }],
    claims: { openid: ["sub"], email: ["email", "email_verified"] },
    cookies: { keys: ["only for tests"] },
    jwks: { keys: [key] },
    ttl: { IdToken: 3600, AccessToken: 3600, AuthorizationCode: 60, Interaction: 3600, Session: 3600, Grant: 3600 },
    findAccount: (_context, login) => {
      const { email = login, isVerified = true } = accounts.get(login) ?? {};
      return { accountId: login, claims: async () => ({ sub: login, email, email_verified: isVerified }) };
    },
  });
  return provider.callback();
}
