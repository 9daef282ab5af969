/**
 * Moves messages that PHP has written to the spool on disk into the database, each exactly once. If an environment has too
 * many queued messages, the rest stay in the spool; when that is full, sending fails in PHP.
 */
import type { Spool, SpooledMail } from "../mail/spool.ts";
import { summarise } from "../mail/summary.ts";
import type { Database } from "../store/database.ts";
import { countQueued, insertMail } from "../store/traffic/mails.ts";

export interface TakeMailsOptions {
  readonly database: Database;
  readonly spool: Pick<Spool, "list" | "read" | "remove">;
  /** Whether there is a mail server. */
  readonly hasServer: boolean;
  /** Called for a message that can't be read. */
  readonly onBroken: (mail: SpooledMail) => void;
  readonly limits?: QueueLimits;
}

/** Maximum number and size of one environment's queued messages. */
export interface QueueLimits {
  readonly messages: number;
  readonly bytes: number;
}

const defaultLimits: QueueLimits = { messages: 5_000, bytes: 500e6 };

export function makeTakeMails(options: TakeMailsOptions): () => Promise<void> {
  const { database, spool, hasServer, onBroken, limits = defaultLimits } = options;
  /** Ids of unreadable messages. They stay in the spool and are reported once. */
  const broken = new Set<string>();

  /** The message, or null if it can't be read or has changed since it was listed. */
  async function read(mail: SpooledMail) {
    try {
      const content = await spool.read(mail);
      return content && { ...content, ...summarise(content.message) };
    } catch {
      return null;
    }
  }

  async function take(mail: SpooledMail): Promise<void> {
    const { id, environmentId } = mail;
    const content = await read(mail);
    if (content === null) {
      broken.add(id);
      onBroken(mail);
      return;
    }
    await insertMail(database, { id, environmentId, ...content }, hasServer);
    await spool.remove(mail);
  }

  return async () => {
    const mails = (await spool.list()).filter(({ id }) => !broken.has(id));
    if (mails.length === 0) return;
    const byEnvironment = Map.groupBy(mails, ({ environmentId }) => environmentId);
    const queued = await countQueued(database, [...byEnvironment.keys()]);
    for (const [environmentId, own] of byEnvironment) {
      let { messages, bytes } = queued.get(environmentId) ?? { messages: 0, bytes: 0 };
      for (const mail of own) {
        if (messages >= limits.messages || bytes >= limits.bytes) break;
        await take(mail);
        messages += 1;
        bytes += mail.bytes;
      }
    }
  };
}
