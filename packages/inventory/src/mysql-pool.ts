/** A pool whose connections do not wait for ever: a server that is cut off says nothing, not even that it is gone. */
import type { MysqlPool, MysqlPoolConnection } from "kysely";
import type { Pool, PoolConnection, QueryError } from "mysql2";
import { SILENCE } from "./mysql-errors.ts";

type Done = (error: unknown, result: unknown) => void;

export function impatient(pool: Pool, silenceMs: number): MysqlPool {
  const known = new WeakMap<PoolConnection, MysqlPoolConnection>();
  const wrapped = (connection: PoolConnection): MysqlPoolConnection => {
    const wrapper = known.get(connection) ?? impatientConnection(connection, silenceMs);
    known.set(connection, wrapper);
    return wrapper;
  };
  return {
    getConnection: (done) =>
      pool.getConnection((error, connection) => {
        if (error === null) done(null, wrapped(connection));
        else failed(done, error);
      }),
    end: (done) => pool.end(done),
  };
}

type Taken = Parameters<MysqlPool["getConnection"]>[0];
/** Kysely's type wants a connection even beside an error; it looks at none. */
const failed = (done: Taken, error: NodeJS.ErrnoException): void => (done as (error: unknown) => void)(error);

function impatientConnection(connection: PoolConnection, silenceMs: number): MysqlPoolConnection {
  const query = (sql: string, values: readonly unknown[], done: Done) => {
    const timer = setTimeout(() => {
      // Its answer may still come: nobody else may read it. The client tells nobody of a connection it destroys.
      connection.destroy();
      done(Object.assign(new Error(`no answer in ${silenceMs} ms`), { code: SILENCE }), undefined);
    }, silenceMs);
    connection.query(sql, [...values], (error: QueryError | null, result) => {
      clearTimeout(timer);
      done(error, result);
    });
  };
  return { query: query as unknown as MysqlPoolConnection["query"], release: () => connection.release() };
}
