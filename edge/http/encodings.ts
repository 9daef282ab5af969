/** In which form an answer is sent, of those that the visitor's `Accept-Encoding` takes (RFC 9110, section 12.5.3). */

/** The best first: of those that a visitor likes equally, it is the one that is sent. */
export const offeredEncodings = ["br", "zstd", "gzip"] as const;

export type Encoding = (typeof offeredEncodings)[number];

/** The client's preferred encoding among those offered; the plain form for clients that accept none. */
export function chooseEncoding(accepted: string | undefined, offered: readonly Encoding[]): Encoding | "identity" {
  if (accepted === undefined) return "identity";
  const weights = readWeights(accepted);
  const weightOf = (name: string) => weights.get(name) ?? weights.get("*") ?? 0;
  let best: Encoding | "identity" = "identity";
  // The plain form is always taken, though liked less than any other that is named, unless it says something else.
  let most = weights.get("identity") ?? 0;
  for (const encoding of offered) {
    const weight = weightOf(encoding);
    if (weight > most || (weight > 0 && weight === most && best === "identity")) [best, most] = [encoding, weight];
  }
  return best;
}

function readWeights(accepted: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const part of accepted.toLowerCase().split(",")) {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim());
    if (name === "") continue;
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    weights.set(name === "x-gzip" ? "gzip" : name, weight === undefined ? 1 : readWeight(weight));
  }
  return weights;
}

/** What can't be read is taken for no. */
function readWeight(text: string): number {
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(text) ? Number(text) : 0;
}
