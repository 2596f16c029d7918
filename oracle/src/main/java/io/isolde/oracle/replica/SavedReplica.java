// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import io.isolde.oracle.Decision;
import io.isolde.oracle.OracleConfig;
import io.isolde.oracle.SavedState;
import io.isolde.oracle.StatusOracle;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.UUID;

/**
 * A replica at one moment, so that the log before it can go. Taken quickly, while the replica
 * waits; written at leisure, while it goes on.
 */
public final class SavedReplica {
  private static final int FORMAT = 1;
  private static final int LARGEST_CONFIG_BYTES = 1024;
  private static final int LARGEST_SESSIONS_BYTES = 1 << 30;

  private final byte[] config;
  private final byte[] sessions;
  private final SavedState oracle;

  private SavedReplica(byte[] config, byte[] sessions, SavedState oracle) {
    this.config = config;
    this.sessions = sessions;
    this.oracle = oracle;
  }

  public static SavedReplica of(OracleReplica replica) {
    Bytes config = new Bytes(64);
    CommandCodec.encode(replica.config(), config);
    return new SavedReplica(
        config.toArray(), encode(replica.sessions()), replica.oracle().snapshot());
  }

  public void writeTo(DataOutput out) throws IOException {
    out.writeInt(FORMAT);
    write(config, out);
    write(sessions, out);
    oracle.writeTo(out);
  }

  /**
   * Returns the replica that was saved.
   *
   * @throws IOException if it was written by a version that this one does not know, or is damaged
   */
  public static OracleReplica read(DataInput in) throws IOException {
    int format = in.readInt();
    if (format != FORMAT) {
      throw new IOException(
          "The saved state of the oracle has format "
              + format
              + ", but this version of Isolde reads only "
              + FORMAT
              + ".");
    }
    OracleConfig config = CommandCodec.decodeConfig(read(in, LARGEST_CONFIG_BYTES));
    Sessions sessions = decodeSessions(read(in, LARGEST_SESSIONS_BYTES));
    return new OracleReplica(config, StatusOracle.load(config, in), sessions);
  }

  private static byte[] encode(Sessions sessions) {
    Bytes out = new Bytes(1 << 16);
    out.putLong(sessions.last()).putInt(sessions.all().size());
    for (Sessions.Session session : sessions.all()) {
      out.putLong(session.number()).putId(session.coordinator());
      encode(session.recent(), out);
    }
    return out.toArray();
  }

  private static void encode(RecentDecisions recent, Bytes out) {
    for (int slot = 0; slot < RecentDecisions.WINDOW; slot++) {
      Decision decision = recent.decisionAt(slot);
      if (decision != null) {
        AnswerCodec.encode(decision, out.put(1).putInt(recent.sequenceAt(slot)));
      }
    }
    out.put(0);
  }

  private static Sessions decodeSessions(ByteBuffer in) {
    Sessions sessions = new Sessions(in.getLong());
    int count = in.getInt();
    for (int i = 0; i < count; i++) {
      long number = in.getLong();
      UUID coordinator = Bytes.id(in);
      RecentDecisions recent = sessions.add(number, coordinator).recent();
      while (in.get() != 0) {
        recent.record(in.getInt(), AnswerCodec.decodeDecision(in));
      }
    }
    return sessions;
  }

  private static void write(byte[] bytes, DataOutput out) throws IOException {
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  private static ByteBuffer read(DataInput in, int mostBytes) throws IOException {
    int length = in.readInt();
    if (length < 0 || length > mostBytes) {
      throw new IOException(
          "The saved state of the oracle is damaged: a length of " + length + ".");
    }
    byte[] bytes = new byte[length];
    in.readFully(bytes);
    return ByteBuffer.wrap(bytes);
  }
}
