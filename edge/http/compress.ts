/** Compresses content for sending. */
import { promisify } from "node:util";
import { brotliCompress, constants, gzip, zstdCompress } from "node:zlib";
import type { Encoding } from "./encodings.ts";

const brotli = promisify(brotliCompress);
const zstd = promisify(zstdCompress);
const deflate = promisify(gzip);

/** Medium levels: the result is sent often, but the processor also has pages to render. */
const brotliLevel = 5;
const zstdLevel = 6;
const gzipLevel = 6;

/** Compresses outside the event loop. */
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
