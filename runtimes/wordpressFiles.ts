/** Tells the files of WordPress core from the site's own. */

const ownConfig = "wp-config.php";

/** Whether a file of this name in the web root belongs to the site's owner and never to WordPress core. */
export function isOwnerFile(name: string): boolean {
  return name.startsWith(".") || name.toLowerCase() === ownConfig;
}
