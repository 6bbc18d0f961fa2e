import type { FC } from "hono/jsx";

interface ShareChartProps {
  /** The address of this page. */
  link: string;
  /** Path of the chart as a picture, without its theme. */
  picture: string;
  /** Name of a saved file, without its ending. */
  file: string;
}

/**
 * Ways to pass a chart on: its address, and pictures to save. The browser makes the PNG out of the SVG (client/share.ts), with the
 * reader's fonts and at no cost to the server; without scripts there is the SVG.
 */
export const ShareChart: FC<ShareChartProps> = ({ link, picture, file }) => (
  <div class="buttons share-chart">
    <span class="hidden" id="page-link">
      {link}
    </span>
    <button type="button" data-copy="page-link" data-command="Copy link" hidden>
      Copy link
    </button>
    <a class="button" href={picture} download={`${file}.svg`} data-command="Download SVG">
      SVG
    </a>
    <button type="button" data-png={picture} data-file={`${file}.png`} data-command="Download PNG" hidden>
      PNG
    </button>
  </div>
);
