// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.protocol.internal.util.Bytes;
import java.io.IOException;
import java.io.InputStream;
import java.util.Iterator;

/** A body as its chunks come. A missing one is an error, and never a shorter body. */
final class BodyStream extends InputStream {
  private static final byte[] NOTHING = {};

  private final Iterator<Row> rows;
  private long missingBytes;
  private int nextChunk;
  private byte[] chunk = NOTHING;
  private int position;

  BodyStream(Iterator<Row> rows, long bytes) {
    this.rows = rows;
    this.missingBytes = bytes;
  }

  @Override
  public int read() throws IOException {
    return hasMore() ? chunk[position++] & 0xff : -1;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    if (!hasMore()) {
      return -1;
    }
    int count = Math.min(length, chunk.length - position);
    System.arraycopy(chunk, position, bytes, offset, count);
    position += count;
    return count;
  }

  private boolean hasMore() throws IOException {
    while (position == chunk.length) {
      if (missingBytes == 0) {
        return false;
      }
      Row row = next();
      if (row == null || row.getInt("chunk") != nextChunk) {
        throw new IOException("Chunk %d of a body is not there.".formatted(nextChunk));
      }
      chunk = Bytes.getArray(row.getByteBuffer("data"));
      position = 0;
      nextChunk++;
      missingBytes = Math.max(0, missingBytes - chunk.length);
    }
    return true;
  }

  private Row next() throws IOException {
    try {
      return rows.hasNext() ? rows.next() : null;
    } catch (DriverException e) {
      throw new IOException("A body could not be read.", e);
    }
  }
}
