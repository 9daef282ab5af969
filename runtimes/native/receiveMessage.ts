/** Handles a message of the platform's PHP under php-fpm. */
import type { createPhpMessages } from "../pool/phpMessages.ts";
import type { RequestCallbacks } from "../pool/worker.ts";
import { mailOf } from "../sendmail.ts";

interface Receivers {
  readonly messages: ReturnType<typeof createPhpMessages>;
  readonly mail: RequestCallbacks["mail"];
  /** Receives a line for PHP's log if a message is refused. */
  readonly log: (line: string) => void;
}

/** Every e-mail begins like this. */
const beginning = '{"sitewright":"mail"';

interface Mail {
  readonly options: readonly string[];
  readonly message: Buffer;
}

/** Returns null if the message is no e-mail. */
function readMail(message: string): Mail | null {
  if (!message.startsWith(beginning)) return null;
  try {
    const { options, message: content } = JSON.parse(message);
    const isMail = Array.isArray(options) && options.every((one) => typeof one === "string");
    return isMail && typeof content === "string" ? { options, message: Buffer.from(content, "base64") } : null;
  } catch {
    return null;
  }
}

/** Returns the answer. Never rejects. */
export async function receiveMessage(message: string, { messages, mail, log }: Receivers): Promise<string> {
  const sent = readMail(message);
  if (sent === null) return messages.receive(message);
  const found = mailOf(sent.options, sent.message);
  const refusal =
    typeof found === "string"
      ? found
      : await (mail?.(found) ?? Promise.resolve("nothing can be sent from here")).catch(() => "it could not be stored");
  if (refusal === null) return "stored";
  log(`sendmail: ${refusal}.`);
  return "";
}
