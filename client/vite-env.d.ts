/** A script that the bundler puts into a file of its own; the value is its address. */
declare module '*?worker&url' {
  const url: string;
  export default url;
}
declare module '*.css';
