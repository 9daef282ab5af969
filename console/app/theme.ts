/** Colours and sizes. Contrast is checked by the tests, in both colour schemes. */
import { createTheme, SegmentedControl } from "@mantine/core";

export const theme = createTheme({
  primaryColor: "indigo",
  primaryShade: { light: 7, dark: 8 },
  defaultRadius: "md",
  fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif",
  headings: { fontWeight: "650" },
  cursorType: "pointer",
  respectReducedMotion: true,
  // Its animation ignores that.
  components: { SegmentedControl: SegmentedControl.extend({ defaultProps: { transitionDuration: 0 } }) },
});
