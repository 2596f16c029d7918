// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.server;

import java.io.IOException;
import org.apache.james.mpt.api.ImapHostSystem;
import org.apache.james.mpt.imapmailbox.suite.AuthenticatedState;
import org.apache.james.mpt.imapmailbox.suite.ConcurrentSessions;
import org.apache.james.mpt.imapmailbox.suite.Copy;
import org.apache.james.mpt.imapmailbox.suite.Events;
import org.apache.james.mpt.imapmailbox.suite.Expunge;
import org.apache.james.mpt.imapmailbox.suite.Fetch;
import org.apache.james.mpt.imapmailbox.suite.FetchBodySection;
import org.apache.james.mpt.imapmailbox.suite.FetchBodyStructure;
import org.apache.james.mpt.imapmailbox.suite.FetchHeaders;
import org.apache.james.mpt.imapmailbox.suite.Listing;
import org.apache.james.mpt.imapmailbox.suite.ListingWithSharingTest;
import org.apache.james.mpt.imapmailbox.suite.MailboxAnnotation;
import org.apache.james.mpt.imapmailbox.suite.MailboxWithLongNameError;
import org.apache.james.mpt.imapmailbox.suite.Move;
import org.apache.james.mpt.imapmailbox.suite.NonAuthenticatedState;
import org.apache.james.mpt.imapmailbox.suite.ObjectId;
import org.apache.james.mpt.imapmailbox.suite.PartialFetch;
import org.apache.james.mpt.imapmailbox.suite.QuotaTest;
import org.apache.james.mpt.imapmailbox.suite.Recent;
import org.apache.james.mpt.imapmailbox.suite.Rename;
import org.apache.james.mpt.imapmailbox.suite.Search;
import org.apache.james.mpt.imapmailbox.suite.Security;
import org.apache.james.mpt.imapmailbox.suite.Select;
import org.apache.james.mpt.imapmailbox.suite.SelectedInbox;
import org.apache.james.mpt.imapmailbox.suite.SelectedState;
import org.apache.james.mpt.imapmailbox.suite.UidSearch;
import org.apache.james.mpt.imapmailbox.suite.UserFlagsSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;

/**
 * The scripts by which James tests its own IMAP server. docs/mail.md has the results, and the
 * suites that are not here.
 */
abstract class ImapScripts {
  private ScriptHost host;

  abstract ScriptHost open() throws IOException;

  private ScriptHost host() {
    try {
      host = open();
      return host;
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @AfterEach
  void stop() {
    if (host != null) {
      host.close();
    }
  }

  @Nested
  class AuthenticatedStateScripts extends AuthenticatedState {
    @Override
    protected ImapHostSystem createImapHostSystem() {
      return host();
    }
  }

  @Nested
  class ConcurrentSessionsScripts extends ConcurrentSessions {
    @Override
    protected ImapHostSystem createImapHostSystem() {
      return host();
    }
  }

  @Nested
  class CopyScripts extends Copy {
    @Override
    protected ImapHostSystem createImapHostSystem() {
      return host();
    }
  }

  @Nested
  class EventsScripts extends Events {
    @Override
    protected ImapHostSystem createImapHostSystem() {
      return host();
    }
  }

  @Nested
  class ExpungeScripts extends Expunge {
    @Override
    protected ImapHostSystem createImapHostSystem() {
      return host();
    }
  }

  @Nested
  class FetchScripts extends Fetch {
    @Override
    protected ImapHostSystem createImapHostSystem() {
      return host();
    }
  }

  @Nested
  class FetchBodySectionScripts extends FetchBodySection {
    @Override
    protected ImapHostSystem createImapHostSystem() {
      return host();
    }
  }

  @Nested
  class FetchBodyStructureScripts extends FetchBodyStructure {
    @Override
    protected ImapHostSystem createImapHostSystem() {
      return host();
    }
  }

  @Nested
  class FetchHeadersScripts extends FetchHeaders {
    @Override
    protected ImapHostSystem createImapHostSystem() {
      return host();
    }
  }

  @Nested
  class ListingScripts extends Listing {
    @Override
    protected ImapHostSystem createImapHostSystem() {
      return host();
    }
  }

  @Nested
  class ListingWithSharingScripts extends ListingWithSharingTest {
    @Override
    protected ImapHostSystem createImapHostSystem() {
      return host();
    }
  }

  @Nested
  class MailboxAnnotationScripts extends MailboxAnnotation {
    @Override
    protected ImapHostSystem createImapHostSystem() {
      return host();
    }
  }

  @Nested
  class MailboxWithLongNameErrorScripts extends MailboxWithLongNameError {
    @Override
    protected ImapHostSystem createImapHostSystem() {
      return host();
    }
  }

  @Nested
  class MoveScripts extends Move {
    @Override
    protected ImapHostSystem createImapHostSystem() {
      return host();
    }
  }

  @Nested
  class NonAuthenticatedStateScripts extends NonAuthenticatedState {
    @Override
    protected ImapHostSystem createImapHostSystem() {
      return host();
    }
  }

  @Nested
  class ObjectIdScripts extends ObjectId {
    @Override
    protected ImapHostSystem createImapHostSystem() {
      return host();
    }
  }

  @Nested
  class PartialFetchScripts extends PartialFetch {
    @Override
    protected ImapHostSystem createImapHostSystem() {
      return host();
    }
  }

  @Nested
  class QuotaScripts extends QuotaTest {
    @Override
    protected ImapHostSystem createImapHostSystem() {
      return host();
    }
  }

  @Nested
  class RecentScripts extends Recent {
    @Override
    protected ImapHostSystem createImapHostSystem() {
      return host();
    }
  }

  @Nested
  class RenameScripts extends Rename {
    @Override
    protected ImapHostSystem createImapHostSystem() {
      return host();
    }
  }

  @Nested
  class SearchScripts extends Search {
    @Override
    protected ImapHostSystem createImapHostSystem() {
      return host();
    }
  }

  @Nested
  class SecurityScripts extends Security {
    @Override
    protected ImapHostSystem createImapHostSystem() {
      return host();
    }
  }

  @Nested
  class SelectScripts extends Select {
    @Override
    protected ImapHostSystem createImapHostSystem() {
      return host();
    }
  }

  @Nested
  class SelectedInboxScripts extends SelectedInbox {
    @Override
    protected ImapHostSystem createImapHostSystem() {
      return host();
    }
  }

  @Nested
  class SelectedStateScripts extends SelectedState {
    @Override
    protected ImapHostSystem createImapHostSystem() {
      return host();
    }
  }

  @Nested
  class UidSearchScripts extends UidSearch {
    @Override
    protected ImapHostSystem createImapHostSystem() {
      return host();
    }
  }

  @Nested
  class UserFlagsSupportScripts extends UserFlagsSupport {
    @Override
    protected ImapHostSystem createImapHostSystem() {
      return host();
    }
  }
}
