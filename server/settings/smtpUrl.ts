/** Parses the setting of the mail server. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** Implicit TLS; otherwise STARTTLS if the server offers it. */
  readonly isSecure: boolean;
  readonly login: { readonly user: string; readonly password: string } | null;
}

/** The setting is invalid. The message never quotes it, since it may contain a password. */
export class SmtpUrlError extends Error {
  override readonly name = "SmtpUrlError";
}

const defaultPorts: Readonly<Record<string, number>> = { "smtp:": 587, "smtps:": 465 };

/** Throws `SmtpUrlError`. */
export function parseSmtpUrl(text: string): SmtpServer {
  const url = URL.canParse(text) ? new URL(text) : null;
  const defaultPort = url === null ? undefined : defaultPorts[url.protocol];
  if (url === null || defaultPort === undefined || url.hostname === "") {
    throw new SmtpUrlError("expected smtp://USER:PASSWORD@host:port, or smtps:// for implicit TLS");
  }
  if (!["", "/"].includes(url.pathname) || url.search !== "" || url.hash !== "") {
    throw new SmtpUrlError("nothing is allowed after the host and port; write # and ? in a password as %23 and %3F");
  }
  if ((url.username === "") !== (url.password === "")) {
    throw new SmtpUrlError("user and password must be given together: smtp://USER:PASSWORD@host:port");
  }
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? defaultPort : Number(url.port),
    isSecure: url.protocol === "smtps:",
    login: url.username === "" ? null : { user: decode(url.username), password: decode(url.password) },
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new SmtpUrlError("write % in user or password as %25");
  }
}

/** Whether the server is on this machine, so that the connection can't be intercepted. */
export function isLocal({ host }: SmtpServer): boolean {
  return host === "localhost" || host === "::1" || /^127\./.test(host);
}
