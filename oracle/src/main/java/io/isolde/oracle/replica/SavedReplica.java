// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import io.isolde.oracle.OracleConfig;
import io.isolde.oracle.SavedState;
import io.isolde.oracle.StatusOracle;
import io.isolde.oracle.configuration.ConfigurationState;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * A replica at one moment, so that the log before it can go. Taken quickly, while the replica
 * waits; written at leisure, while it goes on.
 */
public final class SavedReplica {
  private static final int FORMAT = 3;

  /** Before the configuration was kept. */
  private static final int WITHOUT_CONFIGURATION = 2;

  /** Before commits came in parts. */
  private static final int WITHOUT_PARTS = 1;

  private static final int MAX_CONFIG_BYTES = 1024;
  private static final int MAX_SESSIONS_BYTES = 1 << 30;
  private static final int MAX_CONFIGURATION_BYTES = 1 << 28;
  private static final int CHUNK_BYTES = 1 << 20;

  /** No commit has this timestamp. */
  private static final long NO_MORE = Long.MAX_VALUE;

  private final byte[] config;
  private final byte[] sessions;
  private final ConfigurationState.Saved configuration;
  private final SavedState oracle;

  private SavedReplica(
      byte[] config, byte[] sessions, ConfigurationState.Saved configuration, SavedState oracle) {
    this.config = config;
    this.sessions = sessions;
    this.configuration = configuration;
    this.oracle = oracle;
  }

  public static SavedReplica of(OracleReplica replica) {
    Bytes config = new Bytes(64);
    CommandCodec.encode(replica.config(), config);
    Bytes sessions = new Bytes(1 << 12);
    sessions.putLong(replica.leaders());
    replica.requestedAborts().writeTo(sessions);
    encode(replica.sessions(), sessions);
    encode(replica.writeSets(), sessions);
    encodeParts(replica.writeSets(), sessions);
    encode(replica.staged(), sessions);
    return new SavedReplica(
        config.toArray(),
        sessions.toArray(),
        replica.configuration().save(),
        replica.oracle().snapshot());
  }

  public void writeTo(DataOutput out) throws IOException {
    out.writeInt(FORMAT);
    write(config, out);
    write(sessions, out);
    Bytes kept = new Bytes(1 << 12);
    ConfigurationCodec.encode(configuration, kept);
    write(kept.toArray(), out);
    oracle.writeTo(out);
  }

  /**
   * Returns the replica that was saved.
   *
   * @throws IOException if it was written by a version that this one does not know, or is damaged
   */
  public static OracleReplica read(DataInput in) throws IOException {
    int format = in.readInt();
    if (format < WITHOUT_PARTS || format > FORMAT) {
      throw new IOException(
          "The saved state of the oracle has format "
              + format
              + ", but this build of Isolde reads only 1 to 3"
              + ". Start this node with the build that it ran before, or with a newer one.");
    }
    try {
      OracleConfig config = CommandCodec.decodeConfig(read(in, MAX_CONFIG_BYTES));
      ByteBuffer own = read(in, MAX_SESSIONS_BYTES);
      long leaders = own.getLong();
      RequestedAborts aborts = RequestedAborts.readFrom(own);
      Sessions sessions = decodeSessions(own);
      WriteSets writeSets = decodeWriteSets(own);
      StagedWrites staged = new StagedWrites();
      if (format > WITHOUT_PARTS) {
        decodeParts(own, writeSets);
        staged = decodeStaged(own);
      }
      ConfigurationState configuration =
          format > WITHOUT_CONFIGURATION
              ? ConfigurationState.of(ConfigurationCodec.decode(read(in, MAX_CONFIGURATION_BYTES)))
              : new ConfigurationState();
      return new OracleReplica(
          config,
          StatusOracle.load(config, in),
          sessions,
          aborts,
          writeSets,
          staged,
          configuration,
          leaders);
    } catch (RuntimeException e) {
      throw new IOException("The saved state of the oracle is damaged.", e);
    }
  }

  private static void encode(Sessions sessions, Bytes out) {
    out.putLong(sessions.last()).putInt(sessions.all().size());
    for (Sessions.Session session : sessions.all()) {
      out.putLong(session.number()).putId(session.coordinator()).putLong(session.generation());
      encode(session.recent(), out);
    }
  }

  private static void encode(RecentDecisions recent, Bytes out) {
    out.putInt(recent.newest());
    for (int slot = 0; slot < RecentDecisions.WINDOW; slot++) {
      Answer answer = recent.answerAt(slot);
      if (answer != null) {
        AnswerCodec.encode(answer, out.put(1).putInt(recent.sequenceAt(slot)));
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
      long generation = in.getLong();
      RecentDecisions recent = new RecentDecisions(in.getInt());
      while (in.get() != 0) {
        recent.record(in.getInt(), AnswerCodec.decode(in));
      }
      sessions.add(number, coordinator, generation, recent);
    }
    return sessions;
  }

  private static void encode(WriteSets writeSets, Bytes out) {
    out.putInt(writeSets.all().size());
    writeSets
        .all()
        .forEach(
            (commitTimestamp, writes) ->
                out.putLong(commitTimestamp)
                    .putLong(writes.applyAfter())
                    .putBytes(writes.parts().get(0)));
  }

  /** The parts of large commits after the first ones. */
  private static void encodeParts(WriteSets writeSets, Bytes out) {
    writeSets
        .all()
        .forEach(
            (commitTimestamp, writes) -> {
              List<byte[]> parts = writes.parts();
              if (parts.size() > 1) {
                out.putLong(commitTimestamp);
                encode(parts.subList(1, parts.size()), out);
              }
            });
    out.putLong(NO_MORE);
  }

  private static void decodeParts(ByteBuffer in, WriteSets writeSets) {
    for (long commitTimestamp = in.getLong(); commitTimestamp != NO_MORE; ) {
      writeSets.addParts(commitTimestamp, decodeParts(in));
      commitTimestamp = in.getLong();
    }
  }

  private static void encode(StagedWrites staged, Bytes out) {
    out.putInt(staged.all().size());
    staged
        .all()
        .forEach(
            (owner, parts) -> {
              out.putLong(owner.session()).putId(owner.staging());
              out.putInt(parts.totalBytes()).putLong(parts.newestMicros());
              encode(parts.all(), out);
            });
  }

  private static StagedWrites decodeStaged(ByteBuffer in) {
    StagedWrites staged = new StagedWrites();
    int count = in.getInt();
    for (int i = 0; i < count; i++) {
      StagedWrites.Owner owner = new StagedWrites.Owner(in.getLong(), Bytes.id(in));
      int totalBytes = in.getInt();
      long newestMicros = in.getLong();
      int number = 0;
      for (byte[] part : decodeParts(in)) {
        boolean isAdded = staged.add(owner, number++, totalBytes, part, newestMicros);
        assert isAdded : "parts are saved in their order";
      }
    }
    return staged;
  }

  private static void encode(List<byte[]> parts, Bytes out) {
    out.putInt(parts.size());
    parts.forEach(out::putBytes);
  }

  private static List<byte[]> decodeParts(ByteBuffer in) {
    int count = in.getInt();
    List<byte[]> parts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      parts.add(Bytes.bytes(in));
    }
    return parts;
  }

  private static WriteSets decodeWriteSets(ByteBuffer in) {
    WriteSets writeSets = new WriteSets();
    int count = in.getInt();
    for (int i = 0; i < count; i++) {
      long commitTimestamp = in.getLong();
      writeSets.add(
          commitTimestamp, new WriteSets.WriteSet(in.getLong(), List.of(Bytes.bytes(in))));
    }
    return writeSets;
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
    // Piece by piece: a damaged length must not take memory for what is not there.
    Bytes bytes = new Bytes(Math.min(length, CHUNK_BYTES));
    byte[] chunk = new byte[Math.min(length, CHUNK_BYTES)];
    for (int done = 0; done < length; done += CHUNK_BYTES) {
      int count = Math.min(CHUNK_BYTES, length - done);
      in.readFully(chunk, 0, count);
      bytes.put(chunk, count);
    }
    return ByteBuffer.wrap(bytes.toArray());
  }
}
