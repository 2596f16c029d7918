// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.collect.MapMaker;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentMap;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.ByteBufferUtil;

/**
 * What the schema says of a snapshot's table.
 *
 * @param snapshot its name
 * @param creation tells snapshots of the same name apart
 * @param source the name of the table that it is a snapshot of
 * @param sourceId the id of that
 * @param creator the host id of the node that makes it
 * @param createdMillis when it was begun, since 1970
 * @param isReady whether it may be read
 * @param cut how its moment is chosen
 * @param timestampMicros the moment, since 1970; 0 until it is ready
 * @param expiresMillis when it goes by itself, since 1970; 0 for never
 */
public record SnapshotTag(
    String snapshot,
    UUID creation,
    String source,
    UUID sourceId,
    UUID creator,
    long createdMillis,
    boolean isReady,
    Cut cut,
    long timestampMicros,
    long expiresMillis) {

  /** What the moment of a snapshot means. */
  public enum Cut {
    /** All commits up to the timestamp, nothing newer: a transactional table. */
    TIMESTAMP,
    /** Each replica for itself. */
    BARRIER,
    /** All replicas while writes waited. */
    GATE
  }

  private static final String EXTENSION = "isolde_snapshot";
  private static final long MICROS_PER_SECOND = 1_000_000;
  private static final ObjectMapper JSON =
      new ObjectMapper().configure(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, false);

  /** Every SELECT asks; weak keys are compared by identity, and metadata is immutable. */
  private static final ConcurrentMap<TableMetadata, SnapshotTag> READ =
      new MapMaker().weakKeys().makeMap();

  /** Returns what a table is a snapshot of; empty for an ordinary table. */
  public static Optional<SnapshotTag> of(TableMetadata table) {
    if (table.params.extensions.isEmpty() || !table.params.extensions.containsKey(EXTENSION)) {
      return Optional.empty();
    }
    return Optional.of(READ.computeIfAbsent(table, SnapshotTag::parse));
  }

  private static SnapshotTag parse(TableMetadata table) {
    byte[] bytes = ByteBufferUtil.getArray(table.params.extensions.get(EXTENSION).duplicate());
    try {
      return JSON.readValue(new String(bytes, StandardCharsets.UTF_8), SnapshotTag.class);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(
          "The extension " + EXTENSION + " of the table " + table + " is not understood.", e);
    }
  }

  public Map<String, ByteBuffer> toExtensions() {
    try {
      return Map.of(
          EXTENSION,
          ByteBuffer.wrap(JSON.writeValueAsString(this).getBytes(StandardCharsets.UTF_8)));
    } catch (JsonProcessingException e) {
      throw new AssertionError("a record of plain values", e);
    }
  }

  public SnapshotTag ready(long atMicros) {
    return new SnapshotTag(
        snapshot,
        creation,
        source,
        sourceId,
        creator,
        createdMillis,
        true,
        cut,
        atMicros,
        expiresMillis);
  }

  /** The time for which reads ask whether a cell has expired, in seconds since 1970. */
  public long nowInSeconds() {
    return timestampMicros / MICROS_PER_SECOND;
  }

  /** The name of the table of a snapshot of a table. */
  public static String tableName(String table, String snapshot) {
    return table + "__" + snapshot;
  }
}
