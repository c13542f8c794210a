/**
 * What is too large for the tree stands in a store of blobs, named by its content. Who asks puts it there first, so that
 * the owner of a shard handles names only.
 */

export interface BlobRef {
  /** Of its bytes, in hex. */
  readonly sha256: string;
  readonly bytes: number;
  /** It is a result that a follow-on job works on: no object, but what stands in one under this name. */
  readonly as?: "payload" | undefined;
}

export interface BlobStore {
  /** Durable when it returns. */
  put(bytes: Buffer): Promise<BlobRef>;
  /** Null: it is not there. */
  get(ref: BlobRef): Promise<Buffer | null>;
}
