import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { compress } from "./compress.ts";
import { chooseEncoding, offeredEncodings } from "./encodings.ts";

test.each([
  [undefined, "identity"],
  ["", "identity"],
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["gzip, deflate, br, zstd", "br"],
  ["gzip, deflate", "gzip"],
  ["GZIP;Q=0.5", "gzip"],
  ["gzip;q=1, br;q=0.5", "gzip"],
  ["br;q=0.5, gzip;q=0.5", "br"],
  ["br;q=0, gzip;q=0", "identity"],
  ["*", "br"],
  ["*;q=0", "identity"],
  ["br;q=0, *", "zstd"],
  ["identity", "identity"],
  ["identity;q=1, gzip;q=0.5", "identity"],
  ["identity;q=0.5, gzip;q=0.5", "gzip"],
  ["deflate", "identity"],
  ["br;q=2", "identity"],
  ["br;q=nonsense, gzip", "gzip"],
  [",,;;,", "identity"],
])("for %j the encoding is %s", (accepted, expected) => {
  expect(chooseEncoding(accepted, offeredEncodings)).toBe(expected);
});

test("only offered encodings are chosen", () => {
  expect(chooseEncoding("br, gzip", ["gzip"])).toBe("gzip");
  expect(chooseEncoding("br", ["gzip"])).toBe("identity");
});

test("compressed content can be decompressed", async () => {
  const content = Buffer.from("words and words ".repeat(1_000));
  const open = { br: brotliDecompressSync, zstd: zstdDecompressSync, gzip: gunzipSync };
  for (const encoding of offeredEncodings) {
    const compressed = await compress(content, encoding);
    expect(compressed.length).toBeLessThan(content.length / 10);
    expect(open[encoding](compressed).equals(content)).toBe(true);
  }
});
