// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import io.isolde.mail.store.StoredMessage;
import io.isolde.mail.store.cql.Contents;
import io.isolde.mail.store.cql.MailboxReads;
import io.isolde.mail.store.cql.MailboxStore;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Date;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.UUID;
import org.apache.james.mailbox.MessageUid;
import org.apache.james.mailbox.ModSeq;
import org.apache.james.mailbox.exception.MailboxException;
import org.apache.james.mailbox.model.ByteContent;
import org.apache.james.mailbox.model.Content;
import org.apache.james.mailbox.model.ThreadId;
import org.apache.james.mailbox.store.mail.MessageMapper.FetchType;
import org.apache.james.mailbox.store.mail.model.MailboxMessage;
import org.apache.james.mailbox.store.mail.model.Property;
import org.apache.james.mailbox.store.mail.model.impl.Properties;
import org.apache.james.mailbox.store.mail.model.impl.SimpleMailboxMessage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes messages of James from entries of the list, with as much content as was asked for. */
final class MessageLoader {
  private static final Logger log = LoggerFactory.getLogger(MessageLoader.class);

  /** Headers are asked for together, so many at a time. */
  private static final int MAX_WINDOW = 32;

  private static final Properties NO_PROPERTIES = new Properties(List.of(), null);
  private static final int FIELDS_OF_A_PROPERTY = 3;

  private final MailboxReads reads;
  private final Contents contents;

  MessageLoader(MailboxStore store) {
    this.reads = store.reads();
    this.contents = store.contents();
  }

  /** A mailbox's messages, one after the other. Those that vanish meanwhile are left out. */
  Iterator<MailboxMessage> load(UUID mailbox, Iterator<StoredMessage> listed, FetchType type) {
    return new Windows(mailbox, listed, type);
  }

  private final class Windows implements Iterator<MailboxMessage> {
    private final UUID mailbox;
    private final Iterator<StoredMessage> listed;
    private final FetchType type;
    private final Queue<MailboxMessage> loaded = new ArrayDeque<>();

    Windows(UUID mailbox, Iterator<StoredMessage> listed, FetchType type) {
      this.mailbox = mailbox;
      this.listed = listed;
      this.type = type;
    }

    @Override
    public boolean hasNext() {
      while (loaded.isEmpty() && listed.hasNext()) {
        List<StoredMessage> window = new ArrayList<>();
        while (window.size() < MAX_WINDOW && listed.hasNext()) {
          window.add(listed.next());
        }
        loaded.addAll(window(mailbox, window, type));
      }
      return !loaded.isEmpty();
    }

    @Override
    public MailboxMessage next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      return loaded.remove();
    }
  }

  private List<MailboxMessage> window(UUID mailbox, List<StoredMessage> listed, FetchType type) {
    if (type == FetchType.METADATA) {
      return listed.stream()
          .map(message -> message(mailbox, message, new ByteContent(new byte[0]), NO_PROPERTIES))
          .toList();
    }
    List<Optional<Contents.Header>> headers =
        contents.headers(listed.stream().map(message -> message.facts().messageId()).toList());
    List<MailboxMessage> messages = new ArrayList<>();
    for (int i = 0; i < listed.size(); i++) {
      StoredMessage message = listed.get(i);
      Optional<Contents.Header> header = headers.get(i);
      if (header.isPresent()) {
        Content content =
            type == FetchType.FULL
                ? new StoredContent(header.get().bytes(), message)
                : new ByteContent(header.get().bytes());
        messages.add(message(mailbox, message, content, properties(header.get())));
      } else if (isListed(mailbox, message)) {
        // The others of the mailbox are to be read all the same.
        log.error("The content of message {} of mailbox {} is lost", message.uid(), mailbox);
      }
    }
    return messages;
  }

  private boolean isListed(UUID mailbox, StoredMessage message) {
    return reads
        .message(mailbox, message.uid())
        .filter(found -> found.facts().equals(message.facts()))
        .isPresent();
  }

  private static MailboxMessage message(
      UUID mailbox, StoredMessage message, Content content, Properties properties) {
    return SimpleMailboxMessage.builder()
        .mailboxId(new UuidMailboxId(mailbox))
        .uid(MessageUid.of(message.uid()))
        .modseq(ModSeq.of(message.modSeq()))
        .messageId(new UuidMessageId(message.facts().messageId()))
        .threadId(ThreadId.fromBaseMessageId(new UuidMessageId(message.facts().threadId())))
        .internalDate(Date.from(message.facts().received()))
        .saveDate(Date.from(message.saved()))
        .size(message.facts().sizeBytes())
        .bodyStartOctet(message.facts().bodyStart())
        .flags(JamesFlags.flags(message.flags()))
        .content(content)
        .properties(properties)
        .build();
  }

  /** The header, and then the body as it is read. */
  private final class StoredContent implements Content {
    private final byte[] header;
    private final StoredMessage message;

    StoredContent(byte[] header, StoredMessage message) {
      this.header = header;
      this.message = message;
    }

    @Override
    public InputStream getInputStream() {
      return new SequenceInputStream(
          new ByteArrayInputStream(header), contents.body(message.facts()));
    }

    @Override
    public long size() {
      return message.facts().sizeBytes();
    }
  }

  /** Stores the content of a message. */
  void store(MailboxMessage message) throws MailboxException {
    try (InputStream header = message.getHeaderContent();
        InputStream body = message.getBodyContent()) {
      contents.store(
          UuidMessageId.of(message.getMessageId()),
          new Contents.Header(
              header.readNBytes(Contents.MAX_HEADER_BYTES + 1),
              lines(message.getProperties()),
              fields(message.getProperties())),
          body);
    } catch (IllegalArgumentException e) {
      throw new MailboxException(e.getMessage(), e);
    } catch (IOException e) {
      throw new MailboxException("A message could not be read.", e);
    }
  }

  private static OptionalLong lines(Properties properties) {
    Long lines = properties.getTextualLineCount();
    return lines == null ? OptionalLong.empty() : OptionalLong.of(lines);
  }

  private static List<String> fields(Properties properties) {
    List<String> fields = new ArrayList<>();
    for (Property property : properties.toProperties()) {
      fields.add(property.getNamespace());
      fields.add(property.getLocalName());
      fields.add(property.getValue());
    }
    return fields;
  }

  private static Properties properties(Contents.Header header) {
    List<String> fields = header.properties();
    List<Property> properties = new ArrayList<>();
    for (int i = 0; i < fields.size(); i += FIELDS_OF_A_PROPERTY) {
      properties.add(new Property(fields.get(i), fields.get(i + 1), fields.get(i + 2)));
    }
    return new Properties(
        properties, header.lines().isPresent() ? header.lines().getAsLong() : null);
  }
}
