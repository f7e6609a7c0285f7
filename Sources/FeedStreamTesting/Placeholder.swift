import FeedStream
