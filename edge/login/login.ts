/**
 * Where login links lead: `/sitewright-login?token=…` at any site. Opening one shows a button; pressing it uses the link up.
 * Programs that look at links in mails and chats therefore don't.
 */
import { escapeText, frame, pageHeaders, sendPage } from "../pages.ts";
import { answerAlone, breakOff, type PhpParts } from "../php/php.ts";
import type { Visit } from "../visit.ts";
import type { Logins } from "./logins.ts";

const segment = "sitewright-login";

export function isLoginLink({ path }: Pick<Visit, "path">): boolean {
  return path.segments.length === 1 && path.segments[0] === segment;
}

/** What must not be kept anywhere, nor told to whom a page links to. */
const careful = { "referrer-policy": "no-referrer" };

export async function answerLogin(visit: Visit, parts: PhpParts & { readonly logins: Logins }): Promise<void> {
  const { request, response, route, path } = visit;
  const { id } = route.environment;
  const token = new URLSearchParams(path.query).get("token") ?? "";
  const login = parts.logins.find(token, id);
  if (request.method === "GET" || request.method === "HEAD") {
    if (login === null) return sendPage(request, response, "loginOver", careful);
    return sendButton(visit, login.login);
  }
  if (request.method !== "POST") return sendPage(request, response, "methodNotAllowed", { allow: "GET, HEAD, POST" });
  const ended = parts.writes.begin(id, () => breakOff(request, response));
  // The link is still good when the site can be written to again.
  if (ended === null) return sendPage(request, response, "frozen", careful);
  const taken = parts.logins.take(token, id);
  if (taken === null) {
    ended();
    return sendPage(request, response, "loginOver", careful);
  }
  parts.coalescing.separate(id);
  parts.log.info({ environment: id, user: taken.userId }, "login link used");
  // The referrer must not be passed on: it contains the token.
  request.resume();
  const input = JSON.stringify({ input: { user: taken.userId, login: taken.login } });
  await answerAlone(visit, { script: "/index.php", pathInfo: "", task: { name: "logIn", input } }, parts, ended);
}

/** The form goes to the address of the page itself, token included. */
function sendButton({ response, host }: Visit, login: string): void {
  const body = frame(
    "Log in",
    `<h1>Log in to ${escapeText(host)}</h1>
<p>This link lets you in once, as <strong>${escapeText(login)}</strong>.</p>
<form method="post"><button type="submit">Log in</button></form>`,
  );
  response.writeHead(200, { ...pageHeaders("text/html; charset=utf-8", body), ...careful }).end(body);
}
