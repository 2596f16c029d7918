# SPDX-License-Identifier: Apache-2.0
"""Sends a message with smtplib and reads it with poplib and imaplib, as any program would.

Arguments: the ports of SMTP, POP3 and IMAP, a user who has mail nowhere, and the password.
"""
import imaplib
import poplib
import smtplib
import ssl
import sys

smtp_port, pop3_port, imap_port = map(int, sys.argv[1:4])
user, password = sys.argv[4:6]
host = "127.0.0.1"
tls = ssl.create_default_context()
tls.check_hostname = False  # the certificate is the server's own
tls.verify_mode = ssl.CERT_NONE
message = f"From: {user}\r\nTo: {user}\r\nMessage-ID: <1@python>\r\nSubject: hello\r\n\r\n.hello\r\n"

for attempt in range(2):  # the second time as if the first answer had been lost
    with smtplib.SMTP(host, smtp_port, timeout=30) as smtp:
        smtp.ehlo()
        for extension in ("starttls", "pipelining", "8bitmime", "size"):
            assert smtp.has_extn(extension), extension
        smtp.starttls(context=tls)
        smtp.login(user, password)
        assert smtp.sendmail(user, [user], message) == {}
        try:
            smtp.sendmail(user, ["someone@elsewhere.test"], message)
            raise AssertionError("it was relayed")
        except smtplib.SMTPRecipientsRefused as refused:
            assert refused.recipients["someone@elsewhere.test"][0] == 550

pop3 = poplib.POP3(host, pop3_port, timeout=30)
pop3.stls(context=tls)
pop3.user(user)
pop3.pass_(password)
assert pop3.stat()[0] == 1, pop3.stat()
assert pop3.retr(1)[1][-1] == b".hello"
assert pop3.top(1, 0)[1][-2:] == [b"Subject: hello", b""]
unique_id = pop3.uidl(1).split()[2]
second = poplib.POP3(host, pop3_port, timeout=30)
second.stls(context=tls)
second.user(user)
try:
    second.pass_(password)
    raise AssertionError("two clients have the drop")
except poplib.error_proto as refused:
    assert b"[IN-USE]" in refused.args[0]
second.close()
pop3.quit()

imap = imaplib.IMAP4(host, imap_port, timeout=30)
imap.starttls(ssl_context=tls)
imap.login(user, password)
for capability in ("IMAP4REV1", "IDLE", "UIDPLUS", "CONDSTORE"):
    assert capability in imap.capabilities, imap.capabilities
assert imap.select("INBOX") == ("OK", [b"1"])
status, found = imap.uid("SEARCH", "SUBJECT", "hello")
assert (status, len(found[0].split())) == ("OK", 1)
uid = found[0].split()[0]
assert unique_id.endswith(b"-" + uid)
status, parts = imap.uid("FETCH", uid, "(FLAGS MODSEQ BODY.PEEK[TEXT])")
assert b".hello" in parts[0][1], parts
imap.create("Archive")
status, answer = imap.uid("COPY", uid, "Archive")
assert status == "OK"
imap.uid("STORE", uid, "+FLAGS", r"(\Deleted)")
assert imap.expunge()[1] == [b"1"]
assert imap.select("Archive") == ("OK", [b"1"])
imap.logout()
print("all clients are content")
