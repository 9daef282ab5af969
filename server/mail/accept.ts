/** Accepts messages from PHP: checks and spools them for the control process. */
import type { AcceptMail } from "@sitewright/runtimes/serving.ts";
import { readEnvelope } from "./envelope.ts";
import { MailRefused } from "./refusal.ts";
import type { Spool } from "./spool.ts";

interface AcceptMailOptions {
  readonly spool: Pick<Spool, "put">;
  /** Receives unexpected errors, which never contain parts of a message. */
  readonly onFailure: (error: unknown) => void;
}

export function makeAcceptMail({ spool, onFailure }: AcceptMailOptions): AcceptMail {
  return async (environmentId, mail) => {
    try {
      await spool.put(environmentId, { ...readEnvelope(mail), message: mail.message });
      return null;
    } catch (error) {
      if (error instanceof MailRefused) return error.message;
      onFailure(error);
      return "the message could not be stored";
    }
  };
}
