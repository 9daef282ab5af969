/** Handles a message of the platform's PHP under php-fpm. */
import type { createPhpMessages } from "../pool/phpMessages.ts";
import type { RequestCallbacks } from "../pool/worker.ts";
import { mailOf } from "../sendmail.ts";

interface Receivers {
  /** The prefix of every message except e-mail. Messages without it are ignored. */
  readonly token: string;
  readonly messages: ReturnType<typeof createPhpMessages>;
  readonly mail: RequestCallbacks["mail"];
  /** Receives a line for PHP's log if a message is refused. */
  readonly log: (line: string) => void;
}

/** Every e-mail begins like this. */
const beginning = '{"sitewright":"mail"';
/** What precedes the content, which is in base64 and last. */
const contentMark = ',"message":"';
const maxOptionsLength = 8_192;

interface Mail {
  readonly options: readonly string[];
  readonly message: Buffer;
}

/** Returns null if the message is no e-mail. Parses only its short part: parsing all would take seconds, if a script wants that. */
function readMail(message: string): Mail | null {
  if (!message.startsWith(beginning)) return null;
  const end = message.slice(0, maxOptionsLength).indexOf(contentMark);
  if (end < 0) return null;
  try {
    const { options } = JSON.parse(`${message.slice(0, end)}}`);
    const isMail = Array.isArray(options) && options.every((one) => typeof one === "string");
    // PHP's JSON has a backslash before each slash, which is no part of base64.
    return isMail ? { options, message: Buffer.from(message.slice(end + contentMark.length), "base64") } : null;
  } catch {
    return null;
  }
}

/** Returns the answer. Never rejects. */
export async function receiveMessage(message: string, { token, messages, mail, log }: Receivers): Promise<string> {
  const sent = readMail(message);
  if (sent === null) return message.startsWith(token) ? messages.receive(message.slice(token.length)) : "";
  const found = mailOf(sent.options, sent.message);
  const refusal =
    typeof found === "string"
      ? found
      : await (mail?.(found) ?? Promise.resolve("nothing can be sent from here")).catch(() => "it could not be stored");
  if (refusal === null) return "stored";
  log(`sendmail: ${refusal}.`);
  return "";
}
