/** Makes what is sent smaller. */
import { promisify } from "node:util";
import { brotliCompress, constants, gzip, zstdCompress } from "node:zlib";
import type { Encoding } from "./encodings.ts";

const brotli = promisify(brotliCompress);
const zstd = promisify(zstdCompress);
const deflate = promisify(gzip);

/** Made once and sent often, by a processor that has others' pages to make: far from the best that there is. */
const brotliLevel = 5;
const zstdLevel = 6;
const gzipLevel = 6;

/** Works beside the event loop. */
export function compress(content: Buffer, encoding: Encoding): Promise<Buffer> {
  switch (encoding) {
    case "br":
      return brotli(content, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: brotliLevel,
          [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
        },
      });
    case "zstd":
      return zstd(content, { params: { [constants.ZSTD_c_compressionLevel]: zstdLevel } });
    case "gzip":
      return deflate(content, { level: gzipLevel });
  }
}
