/** Chooses the content encoding by `Accept-Encoding` (RFC 9110, section 12.5.3). */

/** Best first, which decides if the client has no preference. */
export const offeredEncodings = ["br", "zstd", "gzip"] as const;

export type Encoding = (typeof offeredEncodings)[number];

/** The client's preferred encoding among those offered; `identity` if it accepts none of them. */
export function chooseEncoding(accepted: string | undefined, offered: readonly Encoding[]): Encoding | "identity" {
  if (accepted === undefined) return "identity";
  const weights = readWeights(accepted);
  const weightOf = (name: string) => weights.get(name) ?? weights.get("*") ?? 0;
  let best: Encoding | "identity" = "identity";
  // `identity` is always acceptable, but comes after the accepted encodings unless it has a weight.
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

/** Invalid weights count as 0. */
function readWeight(text: string): number {
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(text) ? Number(text) : 0;
}
