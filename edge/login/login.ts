/**
 * Login links: `/sitewright-login?token=…` on any site. The page shows a button, and only pressing it uses the link up,
 * so that programs that preview links in mails and chats don't.
 */
import { escapeText, frame, pageHeaders, sendPage } from "../pages.ts";
import { answerAlone, breakOff, type PhpParts } from "../php/php.ts";
import type { Visit } from "../visit.ts";
import type { Logins } from "./logins.ts";

const segment = "sitewright-login";

export function isLoginLink({ path }: Pick<Visit, "path">): boolean {
  return path.segments.length === 1 && path.segments[0] === segment;
}

/** Keeps the token out of the Referer header. */
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
  // The link stays valid for when the site is thawed.
  if (ended === null) return sendPage(request, response, "frozen", careful);
  const taken = parts.logins.take(token, id);
  if (taken === null) {
    ended();
    return sendPage(request, response, "loginOver", careful);
  }
  parts.coalescing.separate(id);
  parts.log.info({ environment: id, user: taken.userId }, "login link used");
  // The request itself is not passed on to PHP: its referrer contains the token.
  request.resume();
  const input = JSON.stringify({ input: { user: taken.userId, login: taken.login } });
  await answerAlone(visit, { script: "/index.php", pathInfo: "", task: { name: "logIn", input } }, parts, ended);
}

/** The form posts to the URL of the page, token included. */
function sendButton({ response, host }: Visit, login: string): void {
  const body = frame(
    "Log in",
    `<h1>Log in to ${escapeText(host)}</h1>
<p>This link lets you in once, as <strong>${escapeText(login)}</strong>.</p>
<form method="post"><button type="submit">Log in</button></form>`,
  );
  response.writeHead(200, { ...pageHeaders("text/html; charset=utf-8", body), ...careful }).end(body);
}
