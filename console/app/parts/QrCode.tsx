import { toSvgPath } from "lean-qr/extras/svg";
import { generate } from "lean-qr/nano";

/** Modules around the code, as ISO 18004 wants. */
const margin = 4;

/** Drawn here, so that the text is sent nowhere. Dark on white in both colour schemes: not every camera reads the opposite. */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const code = generate(text);
  const size = code.size + 2 * margin;
  return (
    <svg role="img" aria-label={label} viewBox={`${-margin} ${-margin} ${size} ${size}`} width={220} height={220}>
      <rect x={-margin} y={-margin} width={size} height={size} fill="white" />
      <path d={toSvgPath(code)} fill="black" shapeRendering="crispEdges" />
    </svg>
  );
}
