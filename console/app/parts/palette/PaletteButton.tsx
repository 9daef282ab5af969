import { Button, Text } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { lazy, Suspense, useState } from "react";
import { texts } from "../../texts.ts";

// Loaded when it is first opened.
const Palette = lazy(() => import("./Palette.tsx").then((module) => ({ default: module.Palette })));

/** Milliseconds until the closed palette has given the focus back. */
const focusReturns = 50;

/** Opens the command palette, as Ctrl-K and Cmd-K do everywhere. */
export function PaletteButton() {
  const [isOpen, setOpen] = useState(false);
  useHotkeys([["mod+K", () => setOpen(true)]], []);
  const close = (then?: () => void) => {
    setOpen(false);
    if (then !== undefined) setTimeout(then, focusReturns);
  };
  return (
    <>
      <Button
        variant="default"
        size="xs"
        px="xs"
        onClick={() => setOpen(true)}
        aria-haspopup="dialog"
        aria-label={texts.palette.open}
        aria-keyshortcuts="Control+K Meta+K"
      >
        <Text span inherit visibleFrom="xs">
          {texts.palette.open}
        </Text>
        <Text span inherit hiddenFrom="xs" aria-hidden="true">
          ⌕
        </Text>
      </Button>
      {isOpen && (
        <Suspense>
          <Palette close={close} />
        </Suspense>
      )}
    </>
  );
}
