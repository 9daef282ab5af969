/** A real DNS server over UDP on a free loopback port, with records set by the test. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { type Answer, decode, encode } from "dns-packet";

/** Values by `TYPE name` (without a final dot); a TXT is one string. */
export type Records = Readonly<Record<string, readonly string[]>>;

export interface DnsServer extends AsyncDisposable {
  /** `127.0.0.1:port`. */
  readonly address: string;
  /** The queries so far, as `TYPE name`. */
  readonly asked: string[];
  setRecords(records: Records): void;
  /**
   * `silent` never responds, `SERVFAIL` fails, `NS` fails for NS queries only, `nonsense` sends an invalid response.
   */
  setMood(mood: "right" | "silent" | "SERVFAIL" | "NS" | "nonsense"): void;
}

const serverFailure = 2;
const noSuchName = 3;

export async function startDnsServer(first: Records = {}): Promise<DnsServer> {
  let records = first;
  let mood = "right";
  const asked: string[] = [];
  const socket = createSocket("udp4");
  socket.on("message", (message, { port, address }) => {
    const query = decode(message);
    const [{ type, name } = { type: "A", name: "" }] = query.questions ?? [];
    asked.push(`${type} ${name.toLowerCase()}`);
    if (mood === "silent") return;
    if (mood === "nonsense") return socket.send("nonsense", port, address);
    const values = records[`${type} ${name.toLowerCase()}`];
    const isKnown = Object.keys(records).some((key) => key.endsWith(` ${name.toLowerCase()}`));
    const hasFailed = mood === "SERVFAIL" || mood === type;
    const code = hasFailed ? serverFailure : isKnown ? 0 : noSuchName;
    const answers = (code === 0 ? (values ?? []) : []).map((data) => answerOf(type, name, data));
    socket.send(
      encode({ type: "response", id: query.id ?? 0, flags: code, questions: query.questions ?? [], answers }),
      port,
      address,
    );
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    setRecords: (next) => {
      records = next;
    },
    setMood: (next) => {
      mood = next;
    },
    [Symbol.asyncDispose]: async () => {
      socket.close();
      await once(socket, "close");
    },
  };
}

function answerOf(type: string, name: string, data: string): Answer {
  if (type === "TXT") return { type: "TXT", name, data: splitText(data) };
  if (type === "NS") return { type: "NS", name, data };
  if (type === "CNAME") return { type: "CNAME", name, data };
  return type === "AAAA" ? { type: "AAAA", name, data } : { type: "A", name, data };
}

/** Splits text into strings of at most 255 bytes, as TXT records require. */
function splitText(text: string): string[] {
  return text.match(/.{1,255}/gs) ?? [""];
}
