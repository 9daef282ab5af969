/** The mail server that everything is handed to, as the setting names it. */

export interface SmtpPlace {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte; otherwise as soon as the server offers it. */
  readonly isSecure: boolean;
  readonly login: { readonly user: string; readonly password: string } | null;
}

/** What is wrong with the setting. Never quotes it: it may have a password in it. */
export class SmtpUrlError extends Error {
  override readonly name = "SmtpUrlError";
}

const usualPorts: Readonly<Record<string, number>> = { "smtp:": 587, "smtps:": 465 };

/** Throws `SmtpUrlError`. */
export function parseSmtpUrl(text: string): SmtpPlace {
  const url = URL.canParse(text) ? new URL(text) : null;
  const usualPort = url === null ? undefined : usualPorts[url.protocol];
  if (url === null || usualPort === undefined || url.hostname === "") {
    throw new SmtpUrlError("expected smtp://USER:PASSWORD@host:port, or smtps:// for TLS from the start");
  }
  if (!["", "/"].includes(url.pathname) || url.search !== "" || url.hash !== "") {
    throw new SmtpUrlError(
      "nothing may stand behind the host and its port; a # or ? in a password is written %23 or %3F",
    );
  }
  if ((url.username === "") !== (url.password === "")) {
    throw new SmtpUrlError("user and password belong together: smtp://USER:PASSWORD@host:port");
  }
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? usualPort : Number(url.port),
    isSecure: url.protocol === "smtps:",
    login: url.username === "" ? null : { user: decode(url.username), password: decode(url.password) },
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new SmtpUrlError("a % in user or password is written %25");
  }
}

/** Whether the server is on this machine, where the connection can't be overheard. */
export function isLocal({ host }: SmtpPlace): boolean {
  return host === "localhost" || host === "::1" || /^127\./.test(host);
}
