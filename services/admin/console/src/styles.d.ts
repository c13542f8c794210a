/** Styles are bundled with the script that names them; the compiler need not know what is in them. */
declare module "*.css";
