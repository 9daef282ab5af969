/**
 * Messages on disk, on their way from PHP to the database. Accepted messages survive a power failure. The edge process
 * writes them (the control process for WP-CLI commands); the control process reads and removes them, so that sites can
 * send while control is down.
 *
 * File names contain environment and size, so that counting needs only one directory listing.
 */
import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import { writeDurableFile } from "../durableFile.ts";
import type { Envelope } from "./envelope.ts";
import { MailRefused } from "./refusal.ts";

export interface SpooledMail {
  readonly id: string;
  readonly environmentId: string;
  readonly bytes: number;
}

export interface SpooledContent extends Envelope {
  readonly message: Buffer;
}

export interface SpoolLimits {
  /** Per environment. */
  readonly messages: number;
  readonly bytes: number;
  /** For all environments together. */
  readonly allBytes: number;
  /** Disk space that must stay free. */
  readonly freeBytes: number;
}

export interface Spool {
  /** Resolves with the message's id once it is durable. Rejects with `MailRefused` if a limit is reached. */
  put(environmentId: string, content: SpooledContent): Promise<string>;
  /** In no particular order. */
  list(): Promise<readonly SpooledMail[]>;
  /** Null if the file is gone or not a complete message. */
  read(mail: SpooledMail): Promise<SpooledContent | null>;
  /** Does nothing if it is gone. */
  remove(mail: SpooledMail): Promise<void>;
}

const defaultLimits: SpoolLimits = { messages: 1_000, bytes: 200e6, allBytes: 2e9, freeBytes: 200e6 };

const uuid = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const namePattern = new RegExp(`^(${uuid})\\.(${uuid})\\.(\\d+)$`);

export function openSpool(folder: string, limits: SpoolLimits = defaultLimits): Spool {
  /** Messages that are being written and may not be listed yet. */
  const pending = new Set<SpooledMail>();
  const fileOf = ({ environmentId, id, bytes }: SpooledMail) => join(folder, `${environmentId}.${id}.${bytes}`);

  async function list(): Promise<readonly SpooledMail[]> {
    const names = await readdir(folder).catch((error: unknown) => {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
      throw error;
    });
    return names.flatMap((name) => {
      const [, environmentId, id, bytes] = namePattern.exec(name) ?? [];
      return environmentId && id ? [{ environmentId, id, bytes: Number(bytes) }] : [];
    });
  }

  async function requireRoom({ environmentId, bytes }: SpooledMail): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const { bavail, bsize } = await statfs(folder);
    if (bavail * bsize < limits.freeBytes + bytes) throw new MailRefused("the server's disk is full");
    const all = new Map([...(await list()), ...pending].map((mail) => [mail.id, mail]));
    const own = [...all.values()].filter((mail) => mail.environmentId === environmentId);
    const sum = (mails: Iterable<SpooledMail>) => [...mails].reduce((total, mail) => total + mail.bytes, 0);
    const isFull = own.length > limits.messages || sum(own) > limits.bytes || sum(all.values()) > limits.allBytes;
    if (isFull) throw new MailRefused("too many messages are waiting to be sent");
  }

  return {
    async put(environmentId, { message, ...envelope }) {
      const content = Buffer.concat([Buffer.from(`${JSON.stringify(envelope)}\n`), message]);
      const mail = { id: randomUUID(), environmentId: environmentId.toLowerCase(), bytes: content.length };
      pending.add(mail);
      try {
        await requireRoom(mail);
        await writeDurableFile(fileOf(mail), content);
      } finally {
        pending.delete(mail);
      }
      return mail.id;
    },
    list,
    read: async (mail) => {
      const content = await readFile(fileOf(mail)).catch(() => null);
      return content?.length === mail.bytes ? unpack(content) : null;
    },
    remove: (mail) => rm(fileOf(mail), { force: true }),
  };
}

function unpack(content: Buffer): SpooledContent | null {
  const end = content.indexOf("\n");
  const envelope: unknown = JSON.parse(content.toString("utf8", 0, end));
  return isEnvelope(envelope) ? { ...envelope, message: content.subarray(end + 1) } : null;
}

function isEnvelope(value: unknown): value is Envelope {
  if (typeof value !== "object" || value === null || !("sender" in value) || !("recipients" in value)) return false;
  const { sender, recipients } = value;
  const isValidSender = sender === null || typeof sender === "string";
  return isValidSender && Array.isArray(recipients) && recipients.every((each) => typeof each === "string");
}
