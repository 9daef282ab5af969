/** Work done by somebody who is not root, who alone is kept from nothing by permissions. */

const nobody = 65_534;

export async function asSomebodyElse(work: () => Promise<void>): Promise<void> {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(nobody);
  try {
    await work();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}
