// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Subscriptions of users, and annotations of mailboxes: single cells that nobody counts. */
public final class UserTables {
  private final MailRequests requests;
  private final PreparedStatement subscribe;
  private final PreparedStatement unsubscribe;
  private final PreparedStatement subscriptions;
  private final PreparedStatement annotate;
  private final PreparedStatement unannotate;
  private final PreparedStatement annotations;

  UserTables(CqlSession session, String keyspace, MailRequests requests) {
    this.requests = requests;
    String k = keyspace + ".";
    subscribe =
        session.prepare("INSERT INTO %ssubscriptions (user, mailbox) VALUES (?, ?)".formatted(k));
    unsubscribe =
        session.prepare("DELETE FROM %ssubscriptions WHERE user = ? AND mailbox = ?".formatted(k));
    subscriptions =
        session.prepare("SELECT mailbox FROM %ssubscriptions WHERE user = ?".formatted(k));
    annotate =
        session.prepare(
            "INSERT INTO %sannotations (mailbox_id, key, value) VALUES (?, ?, ?)".formatted(k));
    unannotate =
        session.prepare("DELETE FROM %sannotations WHERE mailbox_id = ? AND key = ?".formatted(k));
    annotations =
        session.prepare("SELECT key, value FROM %sannotations WHERE mailbox_id = ?".formatted(k));
  }

  /** Subscribes a user to a mailbox, which need not be there. */
  public void subscribe(String user, String mailbox) {
    write(subscribe.bind(user, mailbox));
  }

  public void unsubscribe(String user, String mailbox) {
    write(unsubscribe.bind(user, mailbox));
  }

  /** What a user has subscribed to. */
  public List<String> subscriptions(String user) {
    List<String> found = new ArrayList<>();
    for (Row row : requests.read(subscriptions.bind(user))) {
      found.add(row.getString("mailbox"));
    }
    return found;
  }

  public void annotate(UUID mailbox, String key, String value) {
    write(annotate.bind(mailbox, key, value));
  }

  public void removeAnnotation(UUID mailbox, String key) {
    write(unannotate.bind(mailbox, key));
  }

  /** The annotations of a mailbox by their keys, in order. */
  public Map<String, String> annotations(UUID mailbox) {
    Map<String, String> found = new LinkedHashMap<>();
    for (Row row : requests.read(annotations.bind(mailbox))) {
      found.put(row.getString("key"), row.getString("value"));
    }
    return found;
  }

  private void write(BoundStatement statement) {
    requests.write(List.of(statement));
  }
}
