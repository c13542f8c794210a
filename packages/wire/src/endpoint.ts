/** An endpoint as data: the server's route, its documentation and the client's call are made from the same one. */
import type { Permission } from "@sluice/access";
import type { z } from "zod";

export interface Endpoint<
  P extends z.ZodType = z.ZodType,
  Q extends z.ZodType = z.ZodType,
  B extends z.ZodType = z.ZodType,
  A extends z.ZodType = z.ZodType,
> {
  readonly id: string;
  readonly method: "get" | "post" | "put" | "delete";
  /** With its parameters in braces. */
  readonly path: string;
  readonly group: string;
  readonly summary: string;
  /** What the caller's role must allow. Whether the thing asked for is in their collections is checked besides. */
  readonly permission: Permission;
  /** Who has this one instead may ask for a part of it: which part is the handler's to say. */
  readonly narrowed?: Permission;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** Of the answer; absent = it has no body. */
  readonly answer?: A;
  readonly status: 200 | 201 | 202 | 204;
  /** The answer is a stream of server-sent events, each with such a value. */
  readonly stream?: true;
}

/** Keeps the schemas' own types, so that calls and handlers are checked by the compiler. */
export const endpoint = <P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, A extends z.ZodType>(
  given: Endpoint<P, Q, B, A>,
): Endpoint<P, Q, B, A> => given;

export type ParamsOf<E> = E extends { readonly params?: infer P extends z.ZodType } ? z.input<P> : undefined;
export type QueryOf<E> = E extends { readonly query?: infer Q extends z.ZodType } ? z.input<Q> : undefined;
export type BodyOf<E> = E extends { readonly body?: infer B extends z.ZodType } ? z.input<B> : undefined;
export type AnswerOf<E> = E extends { readonly answer?: infer A extends z.ZodType } ? z.output<A> : undefined;
