/** The archives at their place. */
import type { Blobs } from "./blobs.ts";
import { openFolderBlobs } from "./folderBlobs.ts";
import { namingFailures } from "./namedFailures.ts";
import type { S3Place } from "./s3Blobs.ts";

type Place = { readonly kind: "folder"; readonly folder: string } | (S3Place & { readonly kind: "s3" });

/** What speaks to object stores is loaded only for one. */
export async function openBlobs(place: Place): Promise<Blobs> {
  if (place.kind === "folder") return namingFailures(openFolderBlobs(place.folder));
  const { openS3Blobs } = await import("./s3Blobs.ts");
  return openS3Blobs(place);
}
