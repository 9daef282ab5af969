/** Colours and sizes. Contrast is checked by the tests, in both colour schemes. */
import { createTheme, Drawer, Modal, SegmentedControl } from "@mantine/core";

/** The title of a dialog is in a `header`, which screen readers would take for the page's. */
const attributes = { header: { role: "none" } };

export const theme = createTheme({
  primaryColor: "indigo",
  primaryShade: { light: 7, dark: 8 },
  defaultRadius: "md",
  fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif",
  headings: { fontWeight: "650" },
  cursorType: "pointer",
  respectReducedMotion: true,
  components: {
    Modal: Modal.extend({ defaultProps: { attributes } }),
    Drawer: Drawer.extend({ defaultProps: { attributes } }),
    // Its animation ignores `respectReducedMotion`.
    SegmentedControl: SegmentedControl.extend({ defaultProps: { transitionDuration: 0 } }),
  },
});
