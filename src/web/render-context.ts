/** Finds the path of an owner's stored image; undefined without one. */
export type FindOwnerImage = (provider: string, owner: string) => string | undefined;

/**
 * What every component may know of the page that it is part of: its second parameter. `page.tsx` gives it to `renderToString`. Preact's
 * `createContext` is not used, as a rendered provider keeps its whole page alive until the next full garbage collection.
 */
export interface RenderContext {
  /** When the page is made, for relative times. Absent: times are exact. */
  now?: number;
  /** The stored images. Absent: owners have their initials. */
  findOwnerImage?: FindOwnerImage;
}
