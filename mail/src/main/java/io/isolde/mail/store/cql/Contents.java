// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.protocol.internal.util.Bytes;
import io.isolde.mail.store.MessageFacts;
import io.isolde.mail.store.StoredMessage;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletionStage;

/**
 * Headers and bodies. They are written before their message is listed, and never change. A body
 * comes in chunks, so that no request is large; neither is any message read as a whole.
 */
public final class Contents {

  /** A header is one cell. */
  public static final int MAX_HEADER_BYTES = 1 << 20;

  static final int CHUNK_BYTES = 256 << 10;
  private static final int MAX_CHUNKS_IN_FLIGHT = 4;

  private final CqlSession session;
  private final MailRequests requests;
  private final MailTables tables;
  private final MailboxReads reads;
  private final PreparedStatement writeHeader;
  private final PreparedStatement writeChunk;
  private final PreparedStatement readHeader;
  private final PreparedStatement readBody;
  private final PreparedStatement removeHeader;
  private final PreparedStatement removeBody;

  Contents(
      CqlSession session,
      String keyspace,
      MailRequests requests,
      MailTables tables,
      MailboxReads reads) {
    this.tables = tables;
    this.session = session;
    this.requests = requests;
    this.reads = reads;
    String k = keyspace + ".";
    writeHeader =
        session.prepare(
            "INSERT INTO %sheaders (message_id, header, line_count, properties) VALUES (?, ?, ?, ?)"
                .formatted(k));
    writeChunk =
        session.prepare(
            "INSERT INTO %sbodies (message_id, chunk, data) VALUES (?, ?, ?)".formatted(k));
    readHeader =
        session.prepare(
            "SELECT header, line_count, properties FROM %sheaders WHERE message_id = ?"
                .formatted(k));
    readBody =
        session.prepare("SELECT chunk, data FROM %sbodies WHERE message_id = ?".formatted(k));
    removeHeader = session.prepare("DELETE FROM %sheaders WHERE message_id = ?".formatted(k));
    removeBody = session.prepare("DELETE FROM %sbodies WHERE message_id = ?".formatted(k));
  }

  /** A header, and what was found in it. */
  public static final class Header {
    private final byte[] bytes;
    private final OptionalLong lines;
    private final List<String> properties;

    /**
     * @param bytes not changed from now on
     * @param lines of the body, if it is a text
     * @param properties what the protocols above have put down, in their order
     */
    public Header(byte[] bytes, OptionalLong lines, List<String> properties) {
      this.bytes = bytes;
      this.lines = lines;
      this.properties = List.copyOf(properties);
    }

    /** Not to be changed. */
    public byte[] bytes() {
      return bytes;
    }

    public OptionalLong lines() {
      return lines;
    }

    public List<String> properties() {
      return properties;
    }
  }

  /**
   * Stores a message that is not listed yet, or again.
   *
   * @param body is read to its end, and not closed
   * @throws IOException if the body can't be read
   * @throws IllegalArgumentException if the header is too long
   */
  public void store(UUID messageId, Header header, InputStream body) throws IOException {
    if (header.bytes().length > MAX_HEADER_BYTES) {
      throw new IllegalArgumentException(
          "The header has more than %d bytes.".formatted(MAX_HEADER_BYTES));
    }
    Queue<CompletionStage<AsyncResultSet>> sent = new ArrayDeque<>();
    sent.add(
        requests.writeAsync(
            writeHeader.bind(
                messageId,
                ByteBuffer.wrap(header.bytes()),
                header.lines().isPresent() ? header.lines().getAsLong() : null,
                header.properties())));
    for (int chunk = 0; ; chunk++) {
      byte[] data = body.readNBytes(CHUNK_BYTES);
      if (data.length == 0) {
        break;
      }
      while (sent.size() >= MAX_CHUNKS_IN_FLIGHT) {
        AsyncResultSet unused = MailRequests.await(sent.remove());
      }
      sent.add(requests.writeAsync(writeChunk.bind(messageId, chunk, ByteBuffer.wrap(data))));
    }
    sent.forEach(MailRequests::await);
  }

  /** The header of a message; empty if its content is not there, or not any more. */
  CompletionStage<Optional<Header>> header(UUID messageId) {
    return requests
        .readCommon(readHeader.bind(messageId))
        .thenApply(result -> Optional.ofNullable(result.one()).map(Contents::header));
  }

  /** As {@link #header} of each, asked for together. */
  public List<Optional<Header>> headers(List<UUID> messageIds) {
    List<CompletionStage<Optional<Header>>> asked = messageIds.stream().map(this::header).toList();
    return asked.stream().map(MailRequests::await).toList();
  }

  private static Header header(Row row) {
    return new Header(
        Bytes.getArray(row.getByteBuffer("header")),
        row.isNull("line_count")
            ? OptionalLong.empty()
            : OptionalLong.of(row.getLong("line_count")),
        row.getList("properties", String.class));
  }

  /** The body of a message, chunk by chunk. It fails with an IOException if it is not whole. */
  public InputStream body(MessageFacts facts) {
    long bytes = facts.sizeBytes() - facts.bodyStart();
    if (bytes <= 0) {
      return InputStream.nullInputStream();
    }
    ResultSet chunks =
        session.execute(
            readBody
                .bind(facts.messageId())
                .setConsistencyLevel(Levels.COMMON)
                .setIdempotent(true)
                .setPageSize(MAX_CHUNKS_IN_FLIGHT));
    return new BodyStream(chunks.iterator(), bytes);
  }

  /** Removes what is left of the messages of a mailbox that was deleted. */
  public void removed(UUID mailbox, List<StoredMessage> messages) {
    requests.write(messages.stream().map(message -> tables.unplace(mailbox, message)).toList());
    removeUnplaced(messages.stream().map(message -> message.facts().messageId()).toList());
  }

  /**
   * Removes the content of messages that have no place, once the caller has removed theirs. The
   * others keep it, even if they are not listed: a copy may be about to be.
   */
  public void removeUnplaced(Iterable<UUID> messageIds) {
    for (UUID messageId : messageIds) {
      if (!reads.isPlaced(messageId)) {
        requests.write(List.of(removeHeader.bind(messageId), removeBody.bind(messageId)));
      }
    }
  }
}
