/**
 * Formats a request as a line of the access log: the "combined" log format, followed by the duration in milliseconds
 * and the requested host.
 *
 *     203.0.113.7 - - [22/Nov/2026:20:15:31 +0000] "GET /?p=1 HTTP/1.1" 200 5123 "-" "Mozilla/5.0" 12 "shop.example.com"
 */
import { quoted } from "./escape.ts";
import { referrerWithoutSecrets, withoutSecrets } from "./masks.ts";

export interface AccessFacts {
  readonly address: string;
  /** Whether the environment's own PHP made the request; it is then logged with the user `php`. */
  readonly fromPhp: boolean;
  readonly at: Date;
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly httpVersion: string;
  readonly status: number;
  /** Bytes sent, including headers. */
  readonly bytes: number;
  readonly referrer: string | undefined;
  readonly userAgent: string | undefined;
  readonly milliseconds: number;
  readonly host: string;
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const maxLength = { url: 4_096, referrer: 1_024, userAgent: 1_024, host: 300 };

export function accessLine(facts: AccessFacts): string {
  const { address, fromPhp, method, httpVersion, status, bytes } = facts;
  const request = quoted(`${method} ${withoutSecrets(facts.url)}`, maxLength.url).slice(0, -1);
  const referrer =
    facts.referrer === undefined ? '"-"' : quoted(referrerWithoutSecrets(facts.referrer), maxLength.referrer);
  const userAgent = facts.userAgent === undefined ? '"-"' : quoted(facts.userAgent, maxLength.userAgent);
  const host = quoted(facts.host, maxLength.host);
  const answer = `${status} ${bytes} ${referrer} ${userAgent} ${Math.round(facts.milliseconds)} ${host}`;
  return `${address === "" ? "-" : address} - ${fromPhp ? "php" : "-"} [${timeOf(facts.at)}] ${request} HTTP/${httpVersion}" ${answer}`;
}

let lastSecond = Number.NaN;
let lastText = "";

/** Formats a time. The text is reused within the same second. */
function timeOf(at: Date): string {
  const second = Math.floor(at.getTime() / 1000);
  if (second !== lastSecond) {
    lastSecond = second;
    const [year = "", month = "", day = "", time = ""] = at.toISOString().split(/[-T.]/);
    lastText = `${day}/${months[Number(month) - 1]}/${year}:${time} +0000`;
  }
  return lastText;
}
