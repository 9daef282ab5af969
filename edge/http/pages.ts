/** The edge's own pages, mostly errors. Each says in plain words what to do next. */
import type { VisitorRequest, VisitorResponse } from "./visitorHttp.ts";

interface Page {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly text: string;
  /** Advice for the site's owner. */
  readonly owner?: string;
  readonly retryAfterSeconds?: number;
}

const pages = {
  unknownHost: {
    status: 404,
    code: "unknown_host",
    title: "There is no site at this address",
    text: "Please check the address for typos.",
    owner:
      "If you have just created it, wait a few seconds and reload. Otherwise check its domains in the list of your sites (GET /v2/sites). The API has another address, which Sitewright prints at startup.",
  },
  notFound: {
    status: 404,
    code: "not_found",
    title: "There is nothing here",
    text: "Please check the address for typos, or start at the front page.",
  },
  badRequest: {
    status: 400,
    code: "bad_request",
    title: "This address is not valid",
    text: "Please check the address for characters that don't belong there, or start at the front page.",
  },
  denied: {
    status: 403,
    code: "address_denied",
    title: "This site can't be reached from here",
    text: "The site has blocked your IP address.",
  },
  xmlRpcOff: {
    status: 403,
    code: "xml_rpc_off",
    title: "XML-RPC is off",
    // Most clients show at most this text.
    text:
      "This site does not accept XML-RPC requests, because programs that guess passwords use them. " +
      "Its owner can turn XML-RPC on with the API (PUT /v2/sites/tools/xml-rpc).",
    owner: "Jetpack and WordPress's mobile app need XML-RPC. An upgrade has turned it off even if they were in use.",
  },
  misdirected: {
    status: 421,
    code: "misdirected",
    title: "This connection was made for another site",
    text: "Your browser reused a connection of another site. Please reload the page.",
  },
  methodNotAllowed: {
    status: 405,
    code: "method_not_allowed",
    title: "This can't be done here",
    text: "The file at this address can only be read. Please go back and try another way.",
  },
  tooLarge: {
    status: 413,
    code: "upload_too_large",
    title: "This upload is too large",
    text: "The limit is {limit}. Please make the file smaller, or send fewer files at once, and try again.",
    owner: "The operator of this installation can raise the limit (SITEWRIGHT_UPLOAD_LIMIT_BYTES).",
  },
  diskFull: {
    status: 507,
    code: "disk_quota_reached",
    title: "There is no space left on the disk",
    text: "Your change could not be completed. Please try again in a minute, after something that is no longer needed has been removed.",
    owner:
      "The site has reached its disk quota, which can be raised with the API, or the server's disk is nearly full.",
  },
  tooManyUploads: {
    status: 503,
    code: "too_many_uploads",
    title: "Too much is being uploaded at the moment",
    text: "There is no space for your upload while others are running, and nothing was saved. Please send it again in a minute.",
    retryAfterSeconds: 60,
  },
  uploadTooSlow: {
    status: 408,
    code: "upload_too_slow",
    title: "This upload took too long",
    text: "It arrived too slowly, and nothing was saved. Please try again with a better connection, or with smaller files.",
  },
  busy: {
    status: 503,
    code: "site_busy",
    title: "This site is very busy",
    text: "It has more visitors at the moment than it can serve. Please try again in a few seconds.",
    owner: "If this happens often, look for a slow plugin, or for pages that are never cached.",
    retryAfterSeconds: 5,
  },
  unavailable: {
    status: 503,
    code: "site_unavailable",
    title: "This site is not available at the moment",
    text: "It is probably starting or being changed. Please try again in a few seconds.",
    owner: "If this lasts, check the activity log for an operation that is running or has failed.",
    retryAfterSeconds: 5,
  },
  away: {
    status: 503,
    code: "site_away",
    title: "This site is not available at the moment",
    text: "It is not on this server yet. Please try again later.",
    owner:
      "It is being restored from its newest backup. The activity log shows whether that has finished or failed. If the environment has no backup, restore the backup of another environment to it.",
    retryAfterSeconds: 60,
  },
  starting: {
    status: 503,
    code: "server_starting",
    title: "This server is starting",
    text: "Please try again in a few seconds.",
    retryAfterSeconds: 5,
  },
  frozen: {
    status: 503,
    code: "back_in_a_moment",
    title: "Back in a moment",
    text: "This site is being changed, and nothing was saved. What you typed is still in your browser. Please go back and send it again in a few seconds.",
    retryAfterSeconds: 3,
  },
  unfinished: {
    status: 503,
    code: "not_finished",
    title: "Back in a moment",
    text: "This site is being changed, and your request was not finished in time. Please check in a few seconds whether it worked, and send it again if not.",
    retryAfterSeconds: 3,
  },
  wouldWrite: {
    status: 503,
    code: "back_in_a_moment",
    title: "Back in a moment",
    text: "This site is being changed. Please load the page again in a few seconds.",
    retryAfterSeconds: 3,
  },
  loginsRefused: {
    status: 429,
    code: "logins_refused",
    title: "Too many failed logins",
    text: "This site accepts no passwords from your IP address for {minutes}. Please try again then.",
    owner:
      "You can log in without a password now: request a login link with the API (POST /v2/sites/environments/{env_id}/wpa-login-url).",
  },
  loginsBusy: {
    status: 429,
    code: "logins_busy",
    title: "Too many logins at the same time",
    text: "Someone may be guessing passwords of this site, so only a few logins are tried at a time. Please try again in a few seconds.",
    owner:
      "You can log in without a password now: request a login link with the API (POST /v2/sites/environments/{env_id}/wpa-login-url).",
  },
  loginOver: {
    status: 410,
    code: "login_link_over",
    title: "This login link is no longer valid",
    text: "A login link works once, for one minute, and only at its own site. Please request a new one.",
  },
  deadline: {
    status: 504,
    code: "site_too_slow",
    title: "This page took too long",
    text: "The site didn't finish this page in time. Please try again; if it happens again, tell the site's owner.",
    owner:
      "A plugin or theme takes longer than a request may last. Deactivate the one that you changed last, and try again. For imports, raise request_seconds with PUT …/limits of the API.",
  },
  crashed: {
    status: 502,
    code: "site_failed",
    title: "This site couldn't finish the page",
    text: "Something in the site stopped unexpectedly. Please try again; if it happens again, tell the site's owner.",
    owner: "A plugin or theme has crashed PHP. Deactivate the one that you changed last, and try again.",
  },
  broken: {
    status: 500,
    code: "edge_failed",
    title: "Something went wrong here",
    text: "Your request is not the cause. Please try again in a few seconds.",
  },
} as const satisfies Record<string, Page>;

export type PageName = keyof typeof pages;

export interface MadePage {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: string;
}

/**
 * Renders a page in the format that `Accept` prefers: HTML, JSON in the format of WordPress's REST API errors, or one
 * line of text. Headers keep it out of caches and search engines. `facts` replace `{name}` in the text.
 */
export function makePage(
  request: Pick<VisitorRequest, "headers">,
  name: PageName,
  facts: Readonly<Record<string, string>> = {},
): MadePage {
  const template: Page = pages[name];
  const page = { ...template, text: template.text.replace(/\{(\w+)\}/g, (_, fact) => facts[fact] ?? "") };
  const [type, body] = format(page, request.headers.accept);
  const headers = {
    ...pageHeaders(type, body),
    ...(page.retryAfterSeconds === undefined ? {} : { "retry-after": page.retryAfterSeconds }),
  };
  return { status: page.status, headers, body };
}

/** Headers of the edge's own pages: no caching and no scripts. */
export function pageHeaders(type: string, body: string): Readonly<Record<string, string | number>> {
  return {
    "content-type": type,
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
    "x-robots-tag": "noindex",
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'",
  };
}

export function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Sends a page. `more` are additional headers. */
export function sendPage(
  request: Pick<VisitorRequest, "headers">,
  response: VisitorResponse,
  name: PageName,
  more: Readonly<Record<string, string>> = {},
): void {
  const page = makePage(request, name);
  response.writeHead(page.status, { ...page.headers, ...more });
  response.end(page.body);
}

function format(page: Page, accept = "*/*"): [type: string, body: string] {
  const wanted = accept.toLowerCase();
  const html = wanted.indexOf("text/html");
  const json = wanted.search(/application\/(?:[\w.+-]+\+)?json/);
  if (json !== -1 && (html === -1 || json < html)) return ["application/json; charset=utf-8", asJson(page)];
  if (html !== -1 || wanted.includes("*/*") || wanted === "") return ["text/html; charset=utf-8", asHtml(page)];
  return ["text/plain; charset=utf-8", `${page.title}. ${page.text}\n`];
}

function asJson(page: Page): string {
  return `${JSON.stringify({ code: page.code, message: `${page.title}. ${page.text}`, data: { status: page.status } })}\n`;
}

function asHtml(page: Page): string {
  const owner =
    page.owner === undefined ? "" : `<p class="owner"><strong>Is this your site?</strong> ${page.owner}</p>\n`;
  return layout(
    page.title,
    `<h1>${page.title}</h1>
<p>${page.text}</p>
${owner}<p class="code">${page.status} · ${page.code}</p>`,
  );
}

/** Wraps `html` in the layout of the edge's own pages. */
export function layout(title: string, html: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>
:root { color-scheme: light dark; --ink: #1d2327; --soft: #50575e; --paper: #f6f7f7; --card: #fff; --line: #dcdcde; --mark: #3858e9; }
@media (prefers-color-scheme: dark) { :root { --ink: #f0f0f1; --soft: #c3c4c7; --paper: #101517; --card: #1d2327; --line: #3c434a; --mark: #8fa5ff; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem; background: var(--paper); color: var(--ink); font: 1rem/1.6 system-ui, sans-serif; }
main { max-width: 34rem; min-width: 0; overflow-wrap: anywhere; padding: 2.5rem; background: var(--card); border: 1px solid var(--line); border-top: 4px solid var(--mark); border-radius: 6px; }
h1 { margin: 0 0 .75rem; font-size: 1.6rem; line-height: 1.25; }
p { margin: 0 0 1rem; }
.owner, .code { color: var(--soft); font-size: .9rem; }
.owner { padding-top: 1rem; border-top: 1px solid var(--line); }
.code { margin: 0; }
button { padding: .6rem 1.4rem; border: 0; border-radius: 4px; background: var(--mark); color: var(--card); font: inherit; cursor: pointer; }
</style>
</head>
<body>
<main>
${html}
</main>
</body>
</html>
`;
}
